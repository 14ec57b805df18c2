"""The demo end to end: a real node, a controller and a recorder in their processes, and a bag that verifies."""

import sys

import pytest


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


def test_says_that_ros_is_missing(sim_node, monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    said = sim_node("demo", "--json")
    assert said.code == 2
    assert "there is no ROS here" in said.err
