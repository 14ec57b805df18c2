"""The watchdog: a plan that does not return is named from outside the tick."""

import os
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from diagnostic_msgs.msg import DiagnosticArray

from sim_node.bridge import Subscriber
from sim_node.node.watchdog import EXIT_CODE

LONG, FOREVER = 400_000_000, 2**62


def of_watchdog(told):
    """The watchdog's statuses so far."""
    return [status for message in told for status in message.status if status.name.endswith(": watchdog")]


@pytest.mark.parametrize("clock", ["native", "timer"])
def test_a_tick_that_hangs_is_named_and_the_node_stays(rig, plants, capfd, clock):
    with rig(plant=f"{plants}:Stuck", clock=clock, watchdog_ms=50.0, diagnostics_period=0.1) as (_, peer):
        peer.change("configure")
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        peer.change("activate")
        peer.until(lambda: of_watchdog(told), "diagnostics")
        assert of_watchdog(told)[-1].message == ""
        with Subscriber(peer.target) as controller:
            controller.send("rounds", LONG)
            hung = peer.until(lambda: [each for each in of_watchdog(told) if each.message], "the watchdog")[0]
            assert "it is in kernel spin" in hung.message
            assert {pair.key: pair.value for pair in hung.values} == {"limit_ms": "50", "kernel": "spin"}
            controller.send("rounds", 1)
        peer.until(lambda: of_watchdog(told)[-1].message == "", "the end of it")
        assert peer.state() == "active"
        said = capfd.readouterr().err
        assert "it is in kernel spin; the node stays as it is (parameter watchdog)" in said
        assert "the tick returned after" in said


def test_a_process_ends_where_that_is_asked_for_and_leaves_no_segment(run, peer_of, plants):
    name = f"stuck_{os.getpid()}"
    given = {"plant": f"{plants}:Stuck", "watchdog": "end", "watchdog_ms": 100.0}
    options = [part for key, value in given.items() for part in ("-p", f"{key}:={value}")]
    process = run("--ros-args", "-r", f"__node:={name}", *options)
    peer = peer_of(f"/{name}")
    assert peer.change("configure")
    assert peer.change("activate")
    with Subscriber(name) as controller:
        controller.send("rounds", FOREVER)
        assert process.wait(60) == EXIT_CODE
    assert not list(Path("/dev/shm").glob(f"*{name}"))
