"""The bench of the bridge reads ticks in another process, by both ways of waiting."""

import os
import sys
from pathlib import Path

import pytest

from sim_node.cli.benches import bridge, rclpy_peer


@pytest.mark.parametrize("spin_us", bridge.WAITS.values(), ids=bridge.WAITS)
def test_a_reader_elsewhere_takes_ticks(spin_us):
    found = bridge._wake(4096, spin_us, 30)
    assert 0 < len(found) <= 30
    assert min(found) > 0
    assert not list(Path("/dev/shm").glob(f"sim_node.*.bench.{os.getpid()}"))


def test_ratios_name_their_peer(monkeypatch):
    monkeypatch.setattr(bridge, "_wake", lambda *_: [2000])
    figures = {"serialize_1MB": {"p50_us": 1000.0}, "message_1MB": {"p50_us": 3000.0}}
    monkeypatch.setattr(bridge, "_rclpy", lambda: figures)
    ratios = bridge.run().ratios
    assert ratios["vs_rclpy_1MB"] == ratios["vs_rclpy_1MB_futex"] == 500.0
    assert ratios["vs_rclpy_message_1MB"] == 1500.0
    assert "vs_rclpy_4kB" not in ratios
    assert ratios["wake_spin_64MB_to_4kB"] == 1.0


def test_the_peer_says_that_it_is_absent(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    rclpy_peer.main("subscribe", 4096, 1, "none")
    assert "absent" in capsys.readouterr().out


@pytest.mark.usefixtures("ros_domain")
def test_the_peer_gets_its_message(monkeypatch):
    pytest.importorskip("rclpy")
    monkeypatch.setattr(bridge, "SIZES", {"4kB": 4096})
    monkeypatch.setattr(bridge, "TOPIC_COUNT", {"4kB": 3})
    figures = bridge._rclpy()
    assert figures["message_4kB"]["count"] >= 3
    assert figures["serialize_4kB"]["count"] == 200
