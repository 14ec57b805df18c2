"""Commands to joints by name: whatever the order, each number is its joint's, and what is not told stays."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="installed without ROS")

from sensor_msgs.msg import JointState

from sim_node import dtypes
from sim_node.layout import Layout
from sim_node.node.standard.form import MisfitError
from sim_node.node.standard.joint_command import JointCommand
from sim_node.part import Part

JOINTS = ("a", "b", "c")
INPUTS = Layout.of([("target", dtypes.float64, (3,), ""), ("drive", dtypes.float32, (6,), "")])


def command(names=JOINTS, **members):
    parts = {member: Part.parse(text, INPUTS, "input") for member, text in members.items()}
    return JointCommand("arm", parts, names)


def values():
    return {field.name: np.full(field.numpy_shape, -1, field.element.numpy) for field in INPUTS}


NUMBERS = st.floats(allow_infinity=True, allow_nan=True, width=32)


@given(st.dictionaries(st.sampled_from([*JOINTS, "x", "y"]), NUMBERS), st.randoms(use_true_random=False))
def test_each_number_is_its_joints_in_whatever_order(told, order):
    names = list(told)
    order.shuffle(names)
    message = JointState(name=names, position=[told[name] for name in names])
    target, kept = command(position="target"), values()
    assert target.arrange(names) == tuple(name for name in names if name not in JOINTS)
    if not set(names) & set(JOINTS):
        with pytest.raises(ValueError, match=r"it has no (position|joint of a, b, c)"):
            target.read(message, kept)
        return
    assert target.read(message, kept) == ["target"]
    expected = [told[joint] if not math.isnan(told.get(joint, math.nan)) else -1.0 for joint in JOINTS]
    np.testing.assert_array_equal(kept["target"], expected)


def test_members_set_inputs_or_parts_of_them():
    arm, kept = command(position="target", velocity="drive[:3]", effort="drive[3:]"), values()
    arm.arrange(["c", "a"])
    message = JointState(name=["c", "a"], position=[3.0, 1.0], velocity=[6.0, 4.0], effort=[1e300, math.nan])
    assert arm.read(message, kept) == ["target", "drive"]
    np.testing.assert_array_equal(kept["target"], [1.0, -1.0, 3.0])
    np.testing.assert_array_equal(kept["drive"], [4.0, -1.0, 6.0, -1.0, -1.0, np.inf])
    assert arm.read(JointState(name=["c", "a"], effort=[1.0, 2.0]), kept) == ["drive"]


def test_one_joint_may_be_a_single_number():
    one, kept = command(["b"], position="target[1]"), values()
    one.arrange(["b"])
    one.read(JointState(name=["b"], position=[2.5]), kept)
    np.testing.assert_array_equal(kept["target"], [-1.0, 2.5, -1.0])


def test_strangers_are_told_once_for_each_order():
    arm = command(position="target")
    assert [arm.arrange(names) for names in (["a", "x"], ["a", "x"], ["x", "a"])] == [("x",), (), ("x",)]


def test_numbers_that_may_be_any_joints_are_refused_and_change_nothing():
    arm, kept = command(position="target", velocity="drive[:3]"), values()
    arm.arrange(JOINTS)
    message = JointState(name=list(JOINTS), position=[1.0, 2.0, 3.0], velocity=[1.0])
    with pytest.raises(ValueError, match="it has 3 names and 1 numbers in velocity"):
        arm.read(message, kept)
    np.testing.assert_array_equal(kept["target"], [-1.0] * 3)


@pytest.mark.parametrize(
    ("names", "members", "why"),
    [
        (["a", "b"], {"position": "target"}, "names has 2 different names, and there are 3 joints"),
        (["a", "b", "b"], {"position": "target"}, "names has 2 different names, and there are 3 joints"),
        (JOINTS, {"position": "target", "velocity": "drive"}, "position has 3 and velocity has 6"),
    ],
)
def test_names_and_numbers_are_as_many(names, members, why):
    with pytest.raises(MisfitError, match=why):
        command(names, **members)
