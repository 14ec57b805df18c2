import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="installed without ROS")

from geometry_msgs.msg import Point, Pose, PoseArray
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from sim_node.node.standard.template import Template


def read(template):
    return deserialize_message(template.memory.tobytes(), type(template.message))


@given(st.text("abc", max_size=9), st.integers(1, 20))
def test_numbers_are_found_whatever_stands_before_them(frame, count):
    pose = Pose()
    template = Template(PoseArray(header=Header(frame_id=frame), poses=[pose] * count))
    view = template.rows(count, np.float64, *((pose.position, axis) for axis in "xyz"))
    assert view.shape == (count, 3)
    assert np.shares_memory(view, template.memory)
    assert view.flags.aligned
    view[:] = np.arange(3 * count).reshape(count, 3) + 0.5
    message = read(template)
    assert message.header.frame_id == frame
    expected = [Point(x=3 * i + 0.5, y=3 * i + 1.5, z=3 * i + 2.5) for i in range(count)]
    assert [pose.position for pose in message.poses] == expected
    assert all(pose.orientation == Pose().orientation for pose in message.poses)


def test_all_but_the_numbers_stays_as_it_was():
    message = JointState(name=["a", "bc"], position=[1.0, 2.0], effort=[3.0, 4.0])
    template = Template(message)
    template.rows(1, np.float64, (message, "position"))[:] = [5.0, 6.0]
    template.stamps(1, message)[:] = (7, 8)
    expected = JointState(name=["a", "bc"], position=[5.0, 6.0], effort=[3.0, 4.0])
    expected.header.stamp.sec, expected.header.stamp.nanosec = 7, 8
    assert read(template) == expected
    assert list(message.position) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("count", "dtype", "name", "told"),
    [
        (1, np.float64, "velocity", "JointState.velocity: the message does not hold 1 equal rows of float64 there"),
        (2, np.float64, "position", "JointState.position: the message does not hold 2 equal rows"),
        (1, np.dtype("V16"), "position", "JointState.position: the message does not hold 1 equal rows"),
    ],
)
def test_what_is_not_there_is_refused(count, dtype, name, told):
    message = JointState(position=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=told):
        Template(message).rows(count, dtype, (message, name))


def test_a_message_that_has_grown_is_refused():
    message = JointState(position=[1.0])
    template = Template(message)
    message.position = [1.0, 2.0]
    with pytest.raises(ValueError, match="not of the size that it had"):
        template.rows(1, np.float64, (message, "position"))


def test_what_is_left_of_other_messages_is_not_taken_for_numbers(monkeypatch):
    """Bytes that are not written are those of the message before, with its marks."""
    pose = Pose()
    message = PoseArray(header=Header(frame_id="ab"), poses=[pose] * 3)
    calls = []

    def stale(message):
        raw = bytearray(serialize_message(message))
        calls.append(raw)
        raw[24:28] = raw[28:29] * 4 if len(calls) < 4 else bytes(4)  # between the count and the first number
        return bytes(raw)

    template = Template(message)
    monkeypatch.setattr("sim_node.node.standard.template.serialize_message", stale)
    view = template.rows(3, np.float64, *((pose.position, axis) for axis in "xyz"))
    assert view.shape == (3, 3)
    assert len(calls) == 4
