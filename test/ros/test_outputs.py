"""Standard messages of a real node: what they hold, when they come, and what is told of them."""

import os

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from geometry_msgs.msg import PoseArray
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from sim_node.bridge import Subscriber
from sim_node.msg import Ring

NODE = f"/plant_{os.getpid()}"
POSES = {
    "topics.poses.type": "geometry_msgs/msg/PoseArray",
    "topics.poses.fields.position": "x",
    "topics.poses.frame_id": "world",
    "topics.poses.rate": 200.0,
}
NUMBERS = {
    "topics.first.type": "std_msgs/msg/Float64MultiArray",
    "topics.first.fields.data": "x[0]",
    "topics.first.rate": 100.0,
}


def ns(stamp):
    return stamp.sec * 10**9 + stamp.nanosec


def test_messages_hold_what_the_ring_does(rig):
    with rig(rate=1000.0, **POSES, **NUMBERS) as (_, peer):
        assert peer.change("configure")
        poses = peer.listen(PoseArray, "poses", late=False)
        first = peer.listen(Float64MultiArray, "first", late=False)
        peer.change("activate")
        with Subscriber(peer.target) as reader:
            reader.send("force", [[1.0, 2.0, 3.0]] * 3)
        peer.until(lambda: poses and poses[-1].poses[0].position.x > 0.5 and first, "poses that moved")
        peer.call(Trigger, "pause")
        count = len(poses)
        with Subscriber(peer.target) as reader, reader.latest() as tick:
            peer.until(lambda: ns(poses[-1].header.stamp) == tick.stamp_ns, "the last poses")
            assert poses[-1].header.frame_id == "world"
            x = tick["x"].tolist()
            assert [[pose.position.x, pose.position.y, pose.position.z] for pose in poses[-1].poses] == x
            peer.until(lambda: list(first[-1].data) == x[0], "the last numbers")
        assert len(poses) <= count + 2
        stamps = [ns(message.header.stamp) for message in poses]
        assert stamps == sorted(set(stamps))


def test_stamps_are_of_the_nodes_clock_on_request(rig):
    with rig(rate=1000.0, **POSES, **{"topics.poses.stamp": "clock"}) as (node, peer):
        began = node.get_clock().now().nanoseconds
        peer.change("configure")
        poses = peer.listen(PoseArray, "poses", late=False)
        peer.change("activate")
        peer.until(lambda: poses, "poses")
        assert began < ns(poses[0].header.stamp) < node.get_clock().now().nanoseconds


def test_messages_come_no_faster_than_asked(rig):
    with rig(rate=1000.0, **{**POSES, "topics.poses.rate": 20.0}) as (node, peer):
        peer.change("configure")
        poses = peer.listen(PoseArray, "poses", late=False)
        peer.change("activate")
        peer.until(lambda: len(poses) >= 5, "poses")
        peer.change("deactivate")
        assert len(poses) < node.assembly.stepper.step / 10


def test_messages_go_on_after_a_reset(rig):
    with rig(rate=1000.0, **POSES) as (node, peer):
        peer.change("configure")
        poses, rings = peer.listen(PoseArray, "poses", late=False), peer.listen(Ring, "ring")
        peer.change("activate")
        peer.until(lambda: poses and ns(poses[-1].header.stamp) > 10**8, "poses of the first generation")
        assert peer.call(Trigger, "reset").success
        before = len(poses)
        peer.until(
            lambda: any(ns(poses[i].header.stamp) < ns(poses[i - 1].header.stamp) for i in range(1, len(poses))),
            "a new start",
        )
        peer.until(lambda: len(poses) > before + 2 and len(rings) == 2, "poses of the second")
        assert rings[0].topics == rings[1].topics
        peer.change("deactivate")
        peer.change("cleanup")
        assert peer.change("configure")
        assert peer.change("activate")
        after = len(poses)
        peer.until(lambda: len(poses) > after, "poses after a cleanup")
        assert node.assembly.publisher.generation == rings[-1].generation


def test_the_ring_tells_its_topics(rig):
    remapped = ("--ros-args", "-r", "~/poses:=/everywhere/poses")
    with rig(remapped, **POSES, **NUMBERS) as (_, peer):
        peer.change("configure")
        rings = peer.listen(Ring, "ring")
        peer.until(lambda: rings, "address")
        first, poses = rings[0].topics
        assert (poses.name, poses.type) == ("/everywhere/poses", "geometry_msgs/msg/PoseArray")
        assert (poses.members, poses.fields, poses.rate) == (["position"], ["x"], 200.0)
        assert (first.name, first.fields) == (f"{peer.target}/first", ["x[0]"])


def test_quality_of_service_is_the_users(rig):
    best_effort = {f"qos_overrides.{NODE}/poses.publisher.reliability": "best_effort"}
    with rig(**POSES, **NUMBERS, **best_effort) as (node, peer):
        peer.change("configure")
        quality = {publisher.topic_name: publisher.qos_profile for publisher in node.publishers}
        assert quality[f"{peer.target}/poses"].reliability == ReliabilityPolicy.BEST_EFFORT
        assert quality[f"{peer.target}/first"].reliability == ReliabilityPolicy.RELIABLE
        assert quality[f"{peer.target}/poses"].depth == 10


def test_nobody_listens_and_nothing_is_made(rig, monkeypatch):
    from sim_node.node.standard.output import Output

    filled, fill = [], Output.fill
    monkeypatch.setattr(Output, "fill", lambda self, *rest: filled.append(self.name) or fill(self, *rest))
    with rig(rate=1000.0, **POSES, **NUMBERS) as (_, peer):
        peer.change("configure")
        first = peer.listen(Float64MultiArray, "first", late=False)
        peer.change("activate")
        peer.until(lambda: len(first) > 3, "numbers")
        assert set(filled) == {"first"}


def test_a_bad_request_is_one_clear_line_and_can_be_mended(rig, capfd):
    with rig(**{**POSES, "topics.poses.fields.position": "level"}) as (_, peer):
        assert not peer.change("configure")
        said = capfd.readouterr().err
        assert "could not configure: topic 'poses': state 'level' is not published" in said
        assert "Traceback" not in said
        assert peer.set("topics.poses.fields.position", "x") == ""
        assert peer.change("configure")
        assert peer.set("topics.poses.rate", 5.0).endswith("deactivate and clean up the node first")


def test_a_reader_of_best_effort_gets_them_too(rig):
    with rig(rate=1000.0, **POSES) as (_, peer):
        peer.change("configure")
        poses = []
        quality = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        peer.node.create_subscription(PoseArray, f"{peer.target}/poses", poses.append, quality)
        peer.change("activate")
        peer.until(lambda: poses, "poses")


def test_lists_of_texts_travel_as_parameters(rig):
    joints = {
        "topics.joints.type": "sensor_msgs/msg/JointState",
        "topics.joints.fields.position": "x[0]",
        "topics.joints.names": ["a", "b", "c"],
    }
    with rig(**joints) as (_, peer):
        assert peer.change("configure")
        assert list(peer.get("topics.joints.names")) == ["a", "b", "c"]
