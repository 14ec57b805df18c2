"""The node as a process: how it ends, how it dies, and what becomes of those who listen."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from sim_node.bridge import Subscriber
from sim_node.bridge.transports import posix_shm
from sim_node.msg import Record, Ring

NAME = f"process_{os.getpid()}"
# The node where llvmlite is not installed.
HIDING = """
import sys

class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "llvmlite":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
from sim_node.node.main import main
sys.exit(main())
"""
CONTROLLER = """
import sys
from sim_node.bridge import Subscriber

with Subscriber(sys.argv[1], timeout=60.0) as ring:
    for _ in range(int(sys.argv[2])):
        with ring.next(60.0) as tick:
            ring.send("push", float(tick.step))
"""


@pytest.fixture
def start(run, plants):
    """Start the node's process under the name, at a rate."""

    def make(**parameters):
        given = {"plant": f"{plants}:Follow", "rate": 200, **parameters}
        options = [part for key, value in given.items() for part in ("-p", f"{key}:={value}")]
        return run("--ros-args", "-r", f"__node:={NAME}", *options)

    return make


@pytest.fixture
def start_without_llvm(spawn, plants, tmp_path):
    """Start the node's process with an empty cache and no compiler."""

    def make(**parameters):
        given = {"plant": f"{plants}:Follow", "rate": 200, **parameters}
        options = [part for key, value in given.items() for part in ("-p", f"{key}:={value}")]
        names = {**os.environ, "SIM_NODE_CACHE": str(tmp_path / "empty")}
        return spawn("-c", HIDING, "--ros-args", "-r", f"__node:={NAME}", *options, env=names)

    return make


@pytest.fixture
def peer(peer_of):
    return peer_of(f"/{NAME}")


def climb(peer):
    peer.clients.clear()
    assert peer.change("configure")
    assert peer.change("activate")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order(start, peer, number):
    process = start()
    records = peer.listen(Record, "record")
    climb(peer)
    peer.until(lambda: records, "record")
    with Subscriber(NAME) as ring:
        process.send_signal(number)
        process.send_signal(number)  # as under a launch file, which passes the terminal's Ctrl-C on
        peer.until(lambda: process.poll() is not None, "end of the process")
        assert process.returncode == 0
        last = ring.latest().step
    peer.until(lambda: records[-1].first_step + records[-1].count - 1 == last, "record of the last tick")
    assert not posix_shm.path_of(NAME).exists()


def test_killed_and_started_again_a_reader_goes_on(start, peer):
    rings = peer.listen(Ring, "ring")
    first = start()
    climb(peer)
    with Subscriber(NAME, timeout=30.0) as reader:
        reader.next(30.0).release()
        before = reader.generation
        first.kill()
        first.wait()
        start()
        climb(peer)
        with reader.next(30.0) as tick:
            assert tick["x"].shape == (3, 3)
        assert reader.generation == before + 1
        reader.send("push", 1.0)
        peer.until(lambda: rings[-1].generation == before + 1, "address of the new ring")


def test_a_controller_in_another_process_closes_the_loop(start, peer, spawn):
    """Each command answers a tick; the record shows at which tick it was applied."""
    start(rate=1000)
    records = peer.listen(Record, "record")
    assert peer.change("configure")
    with Subscriber(NAME) as ring:
        push = ring.inputs["push"]
    controller = spawn("-c", CONTROLLER, NAME, "300")
    assert peer.change("activate")
    peer.until(lambda: controller.poll() is not None, "end of the controller")
    assert controller.returncode == 0
    assert peer.change("deactivate")
    peer.until(lambda: records, "record")
    applied = {}
    for record in records:
        rows = np.frombuffer(record.inputs, np.uint8).reshape(record.count, record.input_bytes)
        applied.update({record.first_step + i: float(push.view(row.copy())) for i, row in enumerate(rows)})
    answered = [applied[step] for step in sorted(applied)]
    assert len(set(answered)) > 100
    assert answered == sorted(answered)
    assert all(answer < step for step, answer in applied.items())


def test_main_takes_the_arguments_of_ros(start, peer):
    process = start(rate="1e2", dt="5e-06")
    climb(peer)
    assert peer.get("rate") == 100.0
    assert peer.get("dt") == 5e-6
    process.terminate()
    assert process.wait(60) == 0


def test_it_says_what_it_waits_for(run):
    process = run("--ros-args", "-r", f"__node:={NAME}", "-r", "__ns:=/rig", stderr=subprocess.PIPE)
    assert f"`ros2 lifecycle set /rig/{NAME} configure`" in process.stderr.readline()
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_bad_argument_of_ros_ends_it_with_a_reason(run):
    process = run("--ros-args", "--log-level", "loud", stderr=subprocess.PIPE)
    _, told = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "loud" in told


def test_with_a_bundle_it_runs_where_there_is_no_compiler(start_without_llvm, peer, plants, tmp_path):
    built = [sys.executable, "-m", "sim_node.cli", "build", f"{plants}:Follow", "--out", str(tmp_path / "bundle")]
    subprocess.run(built, check=True, stdout=subprocess.DEVNULL)
    alone = start_without_llvm()
    assert not peer.change("configure")
    alone.send_signal(signal.SIGINT)
    assert alone.wait(60) == 0
    process = start_without_llvm(bundle=tmp_path / "bundle")
    records = peer.listen(Record, "record")
    climb(peer)
    peer.until(lambda: records, "record")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
