"""/clock: who makes it, who may listen to it, and what nodes see of a reset."""

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from builtin_interfaces.msg import Time
from rclpy.clock import ClockType, JumpThreshold
from rclpy.duration import Duration
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

from sim_node.msg import Tick
from sim_node.node.settings import NS

SIMULATED = Parameter("use_sim_time", value=True)


def ns(stamp):
    return stamp.sec * NS + stamp.nanosec


@pytest.fixture
def other_simulator():
    """Publish /clock from the peer's node, at a time that no plant here comes to."""

    def make(peer):
        publisher = peer.node.create_publisher(Clock, "/clock", QoSProfile(depth=1))
        return publisher, lambda: publisher.publish(Clock(clock=Time(sec=1234)))

    return make


def test_clocks_of_other_nodes_are_the_plants_and_jump_back_with_it(rig):
    with rig(rate=1000.0, dt=0.01, clock_topic_rate=200.0) as (node, peer):
        peer.node.set_parameters([SIMULATED])
        clock, jumps = peer.node.get_clock(), []
        back = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=False)
        handle = clock.create_jump_callback(back, post_callback=jumps.append)
        peer.change("configure")
        peer.change("activate")
        peer.until(lambda: clock.now().nanoseconds > NS // 2, "simulated time")
        assert clock.now().nanoseconds % 10_000_000 == 0
        assert jumps == []
        peer.call(Trigger, "pause")
        peer.until(lambda: clock.now().nanoseconds == node.assembly.stepper.step * 10_000_000, "the time of the pause")
        assert peer.call(Trigger, "reset").success  # paused: no tick tells of it
        peer.until(lambda: jumps, "jump back")
        assert jumps[0].delta.nanoseconds < -NS // 3
        assert clock.now().nanoseconds == 0
        handle.unregister()


def test_a_node_does_not_listen_to_its_own_clock(rig):
    with rig(use_sim_time=True, clock_topic_rate=100.0) as (node, peer):
        assert not peer.change("configure")
        assert "would take its time from the /clock that it makes; set use_sim_time to false" in str(node.fault)
        assert peer.set("use_sim_time", False) == ""
        assert peer.change("configure")
        assert "would take its time from the /clock that it makes" in peer.set("use_sim_time", True)
        assert peer.change("cleanup")
        assert peer.set("use_sim_time", True) == ""


def test_a_rate_that_would_load_other_nodes_is_refused(rig):
    with rig(clock_topic_rate=1000.0) as (node, peer):
        assert not peer.change("configure")
        assert "parameter 'clock_topic_rate' = 1000.0 is more than 200 Hz" in str(node.fault)


def test_by_default_there_is_no_clock(rig):
    with rig() as (node, peer):
        peer.change("configure")
        peer.change("activate")
        assert not node.get_publishers_info_by_topic("/clock")


def test_there_is_one_simulator_at_a_time(rig, other_simulator):
    with rig(clock_topic_rate=100.0) as (node, peer):
        publisher, _ = other_simulator(peer)
        peer.until(lambda: node.get_publishers_info_by_topic("/clock"), "discovery")
        peer.change("configure")
        assert not peer.change("activate")
        assert "/clock is published by /peer already" in str(node.fault)
        peer.node.destroy_publisher(publisher)
        peer.until(lambda: len(node.get_publishers_info_by_topic("/clock")) == 1, "its end")
        assert peer.change("activate")


@pytest.mark.parametrize("clock", ["native", "timer"])
def test_under_the_time_of_another_ticks_stay_in_real_time_and_stamps_are_of_it(rig, other_simulator, clock):
    numbers = {
        "topics.x.type": "visualization_msgs/msg/MarkerArray",
        "topics.x.fields.position": "x",
        "topics.x.stamp": "clock",
    }
    from visualization_msgs.msg import MarkerArray

    with rig(clock=clock, use_sim_time=True, rate=200.0, **numbers) as (node, peer):
        peer.change("configure")
        peer.change("activate")
        # Time stands at 0 until somebody says otherwise, and ticks come all the same.
        peer.until(lambda: node.assembly.stepper.step > 20, "ticks")
        assert node.get_clock().now().nanoseconds == 0
        assert {timer.clock.clock_type for timer in node.timers} == {ClockType.STEADY_TIME}
        _, tell = other_simulator(peer)
        markers, ticks = peer.listen(MarkerArray, "x", late=False), peer.listen(Tick, "tick", late=False)

        def stamped():
            tell()
            return markers and ns(markers[-1].markers[0].header.stamp) == 1234 * NS

        peer.until(stamped, "stamp of the other's time")
        peer.until(lambda: ticks, "tick")
        assert ns(ticks[-1].stamp) == ticks[-1].step * 5_000_000
