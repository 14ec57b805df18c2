"""The bench of clocks runs each of them and keeps whole histograms."""

import sys

from sim_node.cli.benches import tick

TICKS = 20


def test_each_clock_does_its_ticks(monkeypatch):
    monkeypatch.setitem(sys.modules, "rclpy", None)
    measured = tick.run(TICKS)
    ran = [*(measured.figures[name] for name in tick.CLOCKS), measured.peers["sleep_loop"]]
    assert [each["ticks"] for each in ran] == [TICKS] * 4
    for each in ran:
        assert sum(count for _, count in each["lateness"]["histogram_ns"]) == TICKS
    assert "doctor" in measured.peers["rclpy_timer"]["absent"]
    fast = measured.figures["native_10_khz"]
    assert fast["ticks"] == 10 * TICKS
    assert 0 <= fast["in_time_percent"] <= 100
    assert fast["misses"] + fast["skipped"] or fast["in_time_percent"] == 100
    ratios = {"sleep_loop_p50_vs_native", "sleep_loop_p99_vs_native"}
    if "absent" not in measured.peers["c_nanosleep"]:
        assert measured.peers["c_nanosleep"]["ticks"] == TICKS
        ratios |= {"native_p99_vs_c", "c_nanosleep_p50_vs_native", "c_nanosleep_p99_vs_native"}
    assert set(measured.ratios) == ratios
