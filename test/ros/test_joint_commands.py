"""Joints driven by topics: a peer that reads and writes as ros2_control's topic-based hardware does."""

import math
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "ros2_control"
JOINTS = ["wrist", "gripper", "elbow", "shoulder"]  # the robot's order, with a joint that the plant does not have
GOAL = {"shoulder": 0.5, "elbow": -0.25, "wrist": 1.0}


class Hardware:
    """The topic-based hardware interface: its profiles of QoS, its arrays of all joints, NaN until it is commanded"""

    def __init__(self, peer):
        self.peer, self.states, self.heard = peer, {}, 0
        peer.node.create_subscription(JointState, f"{peer.target}/joint_states", self.read, qos_profile_sensor_data)
        self.commands = peer.node.create_publisher(JointState, f"{peer.target}/joint_commands", QoSProfile(depth=1))
        peer.until(self.commands.get_subscription_count, "subscription to commands")
        peer.meet()

    def read(self, message):
        self.heard += 1
        self.states = dict(zip(message.name, zip(message.position, message.velocity, message.effort)))

    def write(self, wanted):
        message = JointState(name=JOINTS, position=[wanted.get(joint, math.nan) for joint in JOINTS])
        message.velocity = [0.0 if joint in wanted else math.nan for joint in JOINTS]
        message.header.stamp = self.peer.node.get_clock().now().to_msg()
        self.commands.publish(message)

    def drive(self, wanted):
        """Command until the joints are there."""
        self.peer.until(lambda: self.write(wanted) or self.near(wanted), f"joints at {wanted}")

    def near(self, wanted):
        return self.states and all(abs(self.states[joint][0] - goal) < 1e-3 for joint, goal in wanted.items())


def test_controllers_drive_the_plant_by_name(rig, capfd):
    arguments = ["--ros-args", "--params-file", str(EXAMPLE / "plant.yaml")]
    with rig(arguments, plant=f"{EXAMPLE / 'arm.py'}:Arm", rate=1000.0) as (_, peer):
        assert peer.change("configure")
        hardware = Hardware(peer)
        assert peer.change("activate")
        hardware.write({})  # no controller has written: nothing moves
        peer.until(lambda: hardware.heard > 3, "states")
        assert set(hardware.states) == set(GOAL)
        hardware.drive(GOAL)
        hardware.drive({"elbow": 0.75})  # the others hold what they were told
        assert hardware.near({**GOAL, "elbow": 0.75})
        assert "~/joint_commands: what it says of gripper is passed over" in capfd.readouterr().err

        uneven = JointState(name=JOINTS, position=[0.0, 0.0])
        hardware.commands.publish(uneven)
        told = []
        peer.until(
            lambda: told.append(capfd.readouterr().err) or "4 names and 2 numbers in position" in "".join(told),
            "what is wrong",
        )

        assert peer.call(Trigger, "reset").success  # what was told before is forgotten with the ring
        hardware.drive({"wrist": 0.5})
        peer.until(lambda: hardware.near({"shoulder": 0.0, "elbow": 0.0, "wrist": 0.5}), "the rest at rest")
