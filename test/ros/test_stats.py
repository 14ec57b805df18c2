"""The topic ~/stats, and the log and levels of /diagnostics when ticks are late."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from std_srvs.srv import Trigger

from sim_node.bridge import Subscriber
from sim_node.msg import Stats


def test_histograms_since_the_start_and_since_a_reset(rig):
    with rig(rate=1000.0, diagnostics_period=0.1) as (_, peer):
        peer.change("configure")
        stats = peer.listen(Stats, "stats", late=False)
        peer.change("activate")
        with Subscriber(peer.target) as controller:
            controller.next(60.0).release()
            controller.send("push", 1.0)
        peer.until(lambda: stats and stats[-1].step > 100, "stats")
        assert peer.call(Trigger, "reset_statistics").success
        seen = len(stats)
        peer.until(lambda: len(stats) > seen + 1, "stats after the reset")
        told = stats[-1]
        assert (told.clock, told.state) == ("native", "running")
        assert told.stamp.sec * 10**9 + told.stamp.nanosec == told.step * 1_000_000
        assert told.real_time_factor > 0
        start, reset = ({each.name: each for each in side} for side in (told.since_start, told.since_reset))
        for each in start.values():
            assert sum(each.counts) == each.count
            assert np.all(np.diff(np.asarray(each.edges, np.int64)) > 0)
        assert 0 < reset["step_time"].count < start["step_time"].count
        assert (start["input.push.command_age"].count, reset["input.push.command_age"].count) == (1, 0)
        assert (start["lateness"].unit, start["delay_ticks"].unit) == ("ns", "ticks")
        counted = dict(zip(told.counters, zip(told.counted_since_start, told.counted_since_reset)))
        assert counted["ticks"][0] > counted["ticks"][1] > 0


def test_a_flood_of_overruns_is_one_line_and_an_error_where_the_limits_say_so(rig, capfd):
    limits = {"misses_error": 2, "step_time_warn_us": 1e-3, "real_time_factor_error": 0.9}
    with rig(rate=1e6, diagnostics_period=0.1, log_period=1e5, **limits) as (_, peer):  # no tick takes a microsecond
        peer.change("configure")
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        peer.change("activate")

        def errors():
            return [each for message in told for each in message.status[:1] if each.level == DiagnosticStatus.ERROR]

        peer.until(lambda: len(errors()) > 3, "errors")
        words = errors()[-1].message
        for part in ("is at least error limit 2", "is at least warn limit 0.001", "is less than error limit 0.9"):
            assert part in words
        assert capfd.readouterr().err.count("missed their deadline") == 1


def test_an_overrun_can_stop_the_clock(rig, capfd):
    with rig(rate=1e6, overrun="stop") as (_, peer):
        peer.change("configure")
        peer.change("activate")
        peer.until(lambda: peer.state() == "inactive", "the end of its clock")
        assert "is late by more than its period of 0.001 ms; overrun 'skip'" in capfd.readouterr().err
