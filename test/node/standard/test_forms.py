import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from sim_node import dtypes
from sim_node.layout import Layout
from sim_node.node.standard.forms import FORMS, fitting
from sim_node.part import Part

LAYOUT = Layout.of(
    [
        ("x", dtypes.named("vec3f"), (4,), ""),
        ("one", dtypes.named("vec3f"), (), ""),
        ("n", dtypes.int64, (2, 2, 2, 2), ""),
    ]
)


def test_the_messages_that_there_are():
    assert list(FORMS) == [
        "sensor_msgs/msg/JointState",
        "sensor_msgs/msg/PointCloud2",
        "sensor_msgs/msg/Image",
        "sensor_msgs/msg/Imu",
        "geometry_msgs/msg/PoseArray",
        "geometry_msgs/msg/WrenchStamped",
        "std_msgs/msg/Float64MultiArray",
        "visualization_msgs/msg/MarkerArray",
    ]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_members_are_those_of_the_message_or_of_its_parts(form):
    assert set(form.leading) <= set(form.members)
    assert all(form.want(member).words for member in form.members)
    assert all(option.convert(option.default) == option.default for option in form.options)
    assert all(option.doc.endswith(".") for option in form.options)


@pytest.mark.parametrize(
    ("text", "takers"),
    [
        ("x", {"PointCloud2 (position)", "PoseArray (position)", "MarkerArray (position)", "MarkerArray (scale)"}),
        ("one", {"JointState (effort)", "Imu (angular_velocity)", "WrenchStamped (force)", "PoseArray (position)"}),
    ],
)
def test_what_fits_a_part_is_told(text, takers):
    assert takers <= {taker.split("/")[-1] for taker in fitting(Part.parse(text, LAYOUT))}


def test_any_numbers_fit_an_array():
    assert fitting(Part.parse("n", LAYOUT)) == ["std_msgs/msg/Float64MultiArray (data)"]
    assert np.prod(LAYOUT["n"].shape) == 16
