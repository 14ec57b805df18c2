"""A plant that a test drives as a node: a controller on topics answers every tick, and the bag is the recorder's."""

import sys

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from sim_node.errors import SimNodeError
from sim_node.testing.evidence import Evidence

CONTROLLER = """
import sys
import rclpy
from rclpy.node import Node
from sim_node.msg import Command, Tick

rclpy.init()
node = Node("controller", namespace=sys.argv[1])
commands = node.create_publisher(Command, "plant/command/force", 10)

def answer(tick):
    command = Command(data=[float(tick.step)] * 4)
    command.header.stamp = tick.stamp
    commands.publish(command)
    if tick.step == int(sys.argv[2]):
        node.destroy_node()
        sys.exit("that is enough")

node.create_subscription(Tick, "plant/tick", answer, 10)
rclpy.spin(node)
"""


def test_a_node_on_topics_answers_each_tick(make, ros_domain, tmp_path):
    controller = [sys.executable, "-c", CONTROLLER, "{namespace}", "80"]
    rig = make(controller=controller, ros={"tick_topic_rate": 1000.0}, keyframe_every=20, limit=60.0)
    assert rig.step == 0
    rig.run(0.05)
    assert rig.until(lambda t: t["force"][0] > 58.0, timeout=0.1) == pytest.approx(0.06)
    assert rig.history("force").values[:, 0].tolist() == list(range(60))
    with pytest.raises(SimNodeError, match=r"(?s)the controller ended with exit code 1.*that is enough"):
        rig.run(1.0)
    rig.__exit__()
    evidence = Evidence("test_it", tmp_path, rigs=[rig])
    assert evidence.conclude() == ""
    assert evidence.reports[0].verified == rig.step >= 80
    text = evidence.write("passed", "").read_text()
    assert rig.names["node"] in text
    assert "tick_topic_rate" in text


def test_a_function_controls_a_node_too(make, ros_domain, damper):
    rig = make(controller=damper, ros={}, realtime=True)
    rig.run(0.3)
    rig.__exit__()
    assert rig.step == 300
    assert rig.history("force").values.any()


def test_a_node_has_faults_and_no_topic_for_them(make, ros_domain, tmp_path):
    rig = make(controller=None, ros={}, faults=["body:20"])
    rig.fault("body", stuck_at=3.0, after=0.02)
    rig.run(0.05)
    assert (rig.history("body").values[20:] == 3.0).all()
    assert (rig.history("body.true").values != 3.0).all()
    topics = [name for name, _ in rig._drive._node.get_topic_names_and_types()]
    assert f"{rig.names['node']}/input/force" in topics
    assert f"{rig.names['node']}/input/faults" not in topics
    rig.__exit__()
    evidence = Evidence("test_it", tmp_path, rigs=[rig])
    assert evidence.conclude() == ""
    assert evidence.reports[0].verified == 50
