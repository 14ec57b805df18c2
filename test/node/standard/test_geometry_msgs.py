import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("rclpy", reason="installed without ROS")

from geometry_msgs import msg

from sim_node.node.standard.form import MisfitError
from sim_node.node.standard.geometry_msgs import PoseArray, Wrench

NUMBERS = st.floats(allow_nan=False, width=32)


@given(st.data(), st.integers(1, 9), st.booleans())
def test_poses_are_those_of_the_ring(sent, stamp, data, count, turned):
    values = {
        "x": data.draw(arrays(np.float32, (count, 3), elements=NUMBERS)),
        "q": data.draw(arrays(np.float64, (count, 4), elements=NUMBERS)),
    }
    members = {"position": "x", **({"orientation": "q"} if turned else {})}
    made = sent(PoseArray, {"x": ("vec3f", (count,)), "q": ("quatd", (count,))}, members)
    expected = msg.PoseArray()
    expected.header.stamp, expected.header.frame_id = stamp[1], "map"
    for x, q in zip(values["x"].tolist(), values["q"].tolist()):
        turn = msg.Quaternion(x=q[0], y=q[1], z=q[2], w=q[3]) if turned else msg.Quaternion()
        expected.poses.append(msg.Pose(position=msg.Point(x=x[0], y=x[1], z=x[2]), orientation=turn))
    assert made.message(values) == expected


def test_transforms_are_poses_by_their_parts(sent):
    members = {"position": "body[:, :3]", "orientation": "body[:, 3:]"}
    made = sent(PoseArray, {"body": ("transformf", (2,))}, members)
    values = made.values()
    poses = made.message(values).poses
    assert [pose.position.y for pose in poses] == values["body"][:, 1].tolist()
    assert [pose.orientation.w for pose in poses] == values["body"][:, 6].tolist()


def test_as_many_orientations_as_positions(sent):
    with pytest.raises(MisfitError, match="position has 2 and orientation has 3"):
        sent(PoseArray, {"x": ("vec3f", (2,)), "q": ("quatf", (3,))}, {"position": "x", "orientation": "q"})


@given(st.data())
def test_wrenches_are_those_of_the_ring(sent, stamp, data):
    values = {"w": data.draw(arrays(np.float64, (2, 6), elements=NUMBERS))}
    made = sent(Wrench, {"w": ("vec6d", (2,))}, {"force": "w[0, :3]", "torque": "w[0, 3:]"}, frame_id="hand")
    x = values["w"][0].tolist()
    expected = msg.WrenchStamped()
    expected.header.stamp, expected.header.frame_id = stamp[1], "hand"
    expected.wrench.force = msg.Vector3(x=x[0], y=x[1], z=x[2])
    expected.wrench.torque = msg.Vector3(x=x[3], y=x[4], z=x[5])
    assert made.message(values) == expected
