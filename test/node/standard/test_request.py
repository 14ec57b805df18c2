import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from rclpy.parameter import Parameter

import sim_node as sn
from sim_node.node.parameters import ParameterError
from sim_node.node.process import hosted
from sim_node.node.standard.request import commanded, requested


class Arm(sn.Plant):
    """Fields of several shapes."""

    angle = sn.state(sn.float64, shape=3, publish=True)
    x = sn.state(sn.vec3, shape=3, publish=True)
    grid = sn.state(sn.float64, shape=(2, 2), publish=True)
    hidden = sn.state(sn.float64)
    far = sn.state(sn.float64, publish="device")
    target = sn.input(sn.float64, shape=3)
    mode = sn.input(sn.int32, shape=3)


@pytest.fixture
def ask(ros_domain):
    """Ask a node with these parameters for its topics: ``ask({"cloud.type": …})``."""

    def make(given, check=lambda node: None):
        overrides = [Parameter(f"topics.{key}", value=value) for key, value in given.items()]
        with hosted(name="asked", parameter_overrides=overrides) as node:
            outputs = requested(node.parameters, Arm(), ["ring"])
            assert node.parameters.strangers() == []
            check(node)
            return outputs

    return make


JOINTS = {
    "arm.type": "sensor_msgs/msg/JointState",
    "arm.fields.position": "angle",
    "arm.names": ["a", "b", "c"],
}
CLOUD = {"points.type": "sensor_msgs/msg/PointCloud2", "points.fields.position": "x", "points.fields.angle": "angle"}


def test_nothing_is_asked_for(ask):
    assert ask({}) == []


def test_what_is_given_is_asked_for_and_described(ask):
    def look(node):
        rate = node.describe_parameter("topics.arm.rate").floating_point_range[0]
        assert (rate.from_value, rate.to_value) == (1e-3, 1000.0)
        assert "one number a joint" in node.describe_parameter("topics.arm.fields.effort").description
        assert node.get_parameter("topics.arm.names").value == ("a", "b", "c")

    arm, points = ask({**JOINTS, **CLOUD, "arm.rate": 20, "points.stamp": "clock"}, look)
    assert (arm.name, arm.rate, arm.simulated) == ("arm", 20.0, True)
    assert {member: part.text for member, part in arm.parts.items()} == {"position": "angle"}
    assert (points.name, points.rate, points.simulated) == ("points", 50.0, False)
    assert set(points.parts) == {"position", "angle"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"arm.fields.position": "angle"}, r"parameter 'topics.arm.type' is one of sensor_msgs/msg/Jo.*, not ''"),
        ({**JOINTS, "arm.type": "JointState"}, r"'topics.arm.type' is one of .*, not 'JointState'"),
        (
            {"arm.type": JOINTS["arm.type"]},
            "topic 'arm': nothing fills sensor_msgs/msg/JointState: "
            "give a field of the plant as topics.arm.fields.position or topics.arm.fields.velocity or ",
        ),
        ({**JOINTS, "arm.fields.position": "angel"}, "topic 'arm': no published field 'angel'; did you mean"),
        ({**JOINTS, "arm.fields.position": "hidden"}, "'hidden' is not published: declare it with publish=True"),
        (
            {**JOINTS, "arm.fields.position": "far"},
            "'far' is published for readers on a GPU: declare it with publish='b",
        ),
        ({**JOINTS, "arm.fields.positon": "angle"}, "JointState has no 'positon'; did you mean 'position'"),
        (
            {**JOINTS, "arm.fields.position": "x"},
            r"topic 'arm': position takes one number a joint, and not field 'x' \(vec3f of shape \[3\]\); "
            r"messages that take it: sensor_msgs/msg/PointCloud2 \(position\), ",
        ),
        ({**JOINTS, "arm.names": ["a"]}, "topic 'arm': names has 1 names, and there are 3 joints"),
        ({**JOINTS, "arm.names": "a"}, "parameter 'topics.arm.names' takes a list of texts, not 'a'"),
        ({**JOINTS, "arm.rate": 0}, r"parameter 'topics.arm.rate' = 0 is less than 0.001 Hz"),
        ({**CLOUD, "points.fields.angle": "grid"}, r"topic 'points': angle has shape \[2, 2\]"),
        ({"ring.type": "x"}, "topic 'ring' is a topic of the node itself: choose another name"),
        ({"an arm.type": "x"}, "topic 'an arm' is not of letters, digits and '_': choose another name"),
    ],
)
def test_what_does_not_fit_is_one_clear_error(ask, given, why):
    with pytest.raises(ParameterError, match=why):
        ask(given)


def test_what_was_wrong_can_be_set_right(ros_domain):
    given = {**JOINTS, "arm.names": ["a"]}
    overrides = [Parameter(f"topics.{key}", value=value) for key, value in given.items()]
    with hosted(name="asked", parameter_overrides=overrides) as node:
        with pytest.raises(ParameterError):
            requested(node.parameters, Arm(), ())
        assert node.set_parameters([Parameter("topics.arm.names", value=["a", "b", "c"])])[0].successful
        assert [output.name for output in requested(node.parameters, Arm(), ())] == ["arm"]
        node.set_parameters([Parameter("topics.arm.type", value="std_msgs/msg/Float64MultiArray")])
        with pytest.raises(ParameterError, match="has no 'position'; there are data"):
            requested(node.parameters, Arm(), ())


COMMAND = {
    "arm.type": "sensor_msgs/msg/JointState",
    "arm.fields.position": "target",
    "arm.names": ["a", "b", "c"],
}


@pytest.fixture
def command(ros_domain):
    """Ask a node with these parameters for topics of commands."""

    def make(given):
        overrides = [Parameter(f"commands.{key}", value=value) for key, value in given.items()]
        with hosted(name="asked", parameter_overrides=overrides) as node:
            made = commanded(node.parameters, Arm(), ["ring"])
            assert node.parameters.strangers() == []
            return made

    return make


def test_commands_are_asked_for(command):
    (arm,) = command(COMMAND)
    assert (arm.topic, {member: part.text for member, part in arm.parts.items()}) == ("arm", {"position": "target"})
    assert command({}) == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({**COMMAND, "arm.type": "x"}, "parameter 'commands.arm.type' is one of sensor_msgs/msg/JointState, not 'x'"),
        ({**COMMAND, "arm.fields.position": ""}, "topic 'arm': it sets nothing: give an input of the plant as comm"),
        ({**COMMAND, "arm.fields.position": "angle"}, "topic 'arm': no input 'angle'"),
        ({**COMMAND, "arm.fields.positon": "target"}, "JointState has no 'positon'; did you mean 'position'"),
        (
            {**COMMAND, "arm.fields.effort": "mode"},
            "topic 'arm': effort sets one float32 or float64 a joint, and not field 'mode' ",
        ),
        ({**COMMAND, "arm.names": ["a"]}, "topic 'arm': names has 1 different names, and there are 3 joints"),
        ({"ring.type": "x"}, "topic 'ring' is a topic of the node itself: choose another name"),
    ],
)
def test_a_command_that_does_not_fit_is_one_clear_error(command, given, why):
    with pytest.raises(ParameterError, match=why):
        command(given)
