"""The bench of clocks runs each of them and keeps whole histograms."""

import sys

from sim_node.cli.benches import tick

TICKS = 20


def test_each_clock_does_its_ticks(monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    measured = tick.run(TICKS)
    ran = [*measured.figures.values(), measured.peers["sleep_loop"]]
    assert [each["ticks"] for each in ran] == [TICKS] * 4
    for each in ran:
        assert sum(count for _, count in each["lateness"]["histogram_ns"]) == TICKS
    assert "doctor" in measured.peers["rclpy_timer"]["absent"]
    assert set(measured.ratios) == {"sleep_loop_p50_vs_native", "sleep_loop_p99_vs_native"}
