"""The demo end to end: a real node, a controller and a recorder in their processes, and a bag that verifies."""

import fcntl
import json
import os
import signal
import subprocess
import sys

import pytest

from sim_node.bridge import Subscriber
from sim_node.bridge.transports import posix_shm
from sim_node.replay.bag import Bag


def test_closes_the_loop_and_verifies(sim_node, ros_domain, tmp_path, monkeypatch):
    pytest.importorskip("rclpy")
    pytest.importorskip("sim_node.msg")
    monkeypatch.chdir(tmp_path)
    said = sim_node("demo", "--seconds", "1", "--name", f"demo_{ros_domain}", "--json")
    assert said.code == 0, said.err
    found = said.object
    assert found["ticks"] >= 1000
    assert found["verified"] == found["ticks"]
    assert (found["diverged"], found["copies_per_tick"]) == (0, 0)
    assert (found["transport"], found["device"]) == ("posix_shm", "cpu")
    assert found["bridge"]["ticks"] > 0
    assert found["loop_delay_ticks"]["p50"] >= 1
    assert (tmp_path / found["bag"]).is_file()
    assert "controller off" in (tmp_path / found["picture"]).read_text()
    again = sim_node("verify", found["bag"], "--json")
    assert (again.code, again.object["verified"]) == (0, found["ticks"])


@pytest.mark.parametrize("reach", [os.kill, os.killpg])
def test_control_c_ends_all_in_order(ros_domain, tmp_path, reach):
    pytest.importorskip("rclpy")
    pytest.importorskip("sim_node.msg")
    name = f"demo_{ros_domain}"
    command = [sys.executable, "-m", "sim_node.cli", "demo", "--name", name, "--folder", str(tmp_path), "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as demo:
        with Subscriber(name, timeout=60.0) as plant, plant.next(timeout=60.0):
            reach(demo.pid, signal.SIGINT)
        said, complained = demo.communicate(timeout=60)
    assert (demo.returncode, json.loads(said)) == (130, {"error": "interrupted"})
    assert "Traceback" not in complained
    assert not posix_shm.path_of(name).exists()
    with pytest.raises(ProcessLookupError):  # nobody is left of its session
        os.killpg(demo.pid, 0)
    bag = Bag(tmp_path / "bag.mcap")
    for _ in bag:
        pass
    assert (bag.torn, bag.damage) == ("", "")


def test_one_demo_a_folder(sim_node, tmp_path):
    pytest.importorskip("rclpy")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    said = sim_node("demo", "--folder", tmp_path, "--json")
    os.close(descriptor)
    assert said.code == 2
    assert "another demo writes into" in said.object["error"]


def test_a_name_that_ros_refuses_is_one_line(sim_node, tmp_path):
    pytest.importorskip("rclpy")
    for command in (("demo", "--folder", tmp_path), ("run", "quarter_car")):
        said = sim_node(*command, "--name", "a b", "--json")
        assert said.code == 2
        assert said.object["error"].startswith("Invalid node name")


def test_says_that_ros_is_missing(sim_node, monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    said = sim_node("demo", "--json")
    assert said.code == 2
    assert "there is no ROS here" in said.err
