import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("rclpy", reason="installed without ROS")

from sensor_msgs import msg
from sensor_msgs.msg import PointField

from sim_node.node.standard.form import MisfitError
from sim_node.node.standard.sensor_msgs import ENCODINGS, Cloud, Image, Imu, JointState


@given(st.data())
def test_joint_states_are_those_of_the_ring(sent, stamp, data):
    count = data.draw(st.integers(1, 9))
    names = tuple(data.draw(st.lists(st.text("ab_", max_size=5), min_size=count, max_size=count)))
    fields = {"angle": ("f64", (count,)), "speed": ("f32", (count,))}
    made = sent(JointState, fields, {"position": "angle", "velocity": "speed"}, names=names)
    values = {
        "angle": data.draw(arrays(np.float64, count, elements=st.floats(allow_nan=False))),
        "speed": data.draw(arrays(np.float32, count, elements=st.floats(allow_nan=False, width=32))),
    }
    expected = msg.JointState(name=list(names), position=list(values["angle"]), velocity=values["speed"].tolist())
    expected.header.stamp = stamp[1]
    assert made.message(values) == expected


def test_one_number_is_one_joint(sent):
    made = sent(JointState, {"level": ("i32", ())}, {"position": "level"}, names=("tank",))
    assert list(made.message({"level": np.array(3, np.int32)}).position) == [3.0]


@pytest.mark.parametrize(
    ("members", "names", "why"),
    [
        ({"position": "angle"}, ("a",), "names has 1 names, and there are 3 joints"),
        ({"position": "angle", "effort": "angle[0]"}, ("a",), "position has 3 and effort has 1"),
    ],
)
def test_joints_that_do_not_agree_are_refused(sent, members, names, why):
    with pytest.raises(MisfitError, match=why):
        sent(JointState, {"angle": ("f64", (3,))}, members, names=names)


def points_of(cloud):
    """The channels of a cloud, read point by point as its fields say: name → list."""
    kinds = {PointField.FLOAT32: "<f4", PointField.FLOAT64: "<f8", PointField.UINT8: "u1", PointField.UINT16: "<u2"}
    raw = bytes(cloud.data)
    return {
        field.name: [
            np.frombuffer(raw, kinds[field.datatype], 1, row * cloud.row_step + i * cloud.point_step + field.offset)[0]
            for row in range(cloud.height)
            for i in range(cloud.width)
        ]
        for field in cloud.fields
    }


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3)])
def test_clouds_are_those_of_the_ring(sent, stamp, shape):
    fields = {
        name: (dtype, shape)
        for name, dtype in {"x": "vec3d", "heat": "f64", "kind": "u8", "up": "vec2f", "n": "u16"}.items()
    }
    members = {"position": "x", "kind": "kind", "heat": "heat", "normal": "up", "ring": "n"}
    made = sent(Cloud, fields, members, frame_id="lidar")
    values = made.values()
    cloud = made.message(values)
    assert (cloud.header.frame_id, cloud.header.stamp) == ("lidar", stamp[1])
    assert (cloud.height, cloud.width) == (shape if len(shape) == 2 else (1, *(shape or (1,))))
    assert cloud.row_step == cloud.width * cloud.point_step
    assert len(cloud.data) == cloud.height * cloud.row_step
    assert not cloud.is_bigendian
    assert points_of(cloud) == {
        **{axis: values["x"][..., i].astype(np.float32).ravel().tolist() for i, axis in enumerate("xyz")},
        "kind": values["kind"].ravel().tolist(),
        "heat": values["heat"].ravel().tolist(),
        **{f"normal_{axis}": values["up"][..., i].ravel().tolist() for i, axis in enumerate("xy")},
        "ring": values["n"].ravel().tolist(),
    }


def test_a_million_points_are_written_in_place(sent):
    made = sent(Cloud, {"x": ("vec3f", (1_000_000,))}, {"position": "x"})
    ((view, _),) = made.output._members
    assert np.shares_memory(view, made.output.template.memory)
    values = made.values()
    cloud = made.message(values)
    assert np.array_equal(np.frombuffer(cloud.data, np.float32).reshape(-1, 3), values["x"])


def test_what_is_too_large_for_float32_is_infinite(sent):
    made = sent(Cloud, {"x": ("vec3d", (1,))}, {"position": "x"})
    assert points_of(made.message({"x": np.array([[1e300, -1e300, np.nan]])}))["x"] == [np.inf]


@pytest.mark.parametrize("part", ["heat[:2]", "wide", "deep"])
def test_channels_that_are_not_of_the_points_are_refused(sent, part):
    fields = {"x": ("vec3f", (3,)), "heat": ("f32", (3,)), "wide": ("f32", (3, 5)), "deep": ("f32", (3, 2, 2))}
    with pytest.raises(MisfitError, match=r"heat has shape .*, and position is of points of shape \[3\]"):
        sent(Cloud, fields, {"position": "x", "heat": part})


def test_two_channels_of_a_name_are_refused(sent):
    with pytest.raises(MisfitError, match="x would be a second channel 'x': give it another name"):
        sent(Cloud, {"x": ("vec3f", (3,)), "heat": ("f32", (3,))}, {"position": "x", "x": "heat"})


@pytest.mark.parametrize(("dtype", "channels"), ENCODINGS)
def test_images_are_those_of_the_ring(sent, stamp, dtype, channels):
    code = {"uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "int32": "i32", "float32": "f32"}
    shape = (3, 2) if channels == 1 else (3, 2, channels)
    made = sent(Image, {"pixels": (code.get(dtype, "f64"), shape)}, {"data": "pixels"}, frame_id="camera")
    values = made.values()
    image = made.message(values)
    assert (image.header.frame_id, image.header.stamp) == ("camera", stamp[1])
    assert (image.height, image.width) == (3, 2)
    assert image.encoding == ENCODINGS[dtype, channels][0]
    assert image.step == 2 * channels * np.dtype(dtype).itemsize
    assert bytes(image.data) == values["pixels"].tobytes()


def test_an_encoding_of_the_same_type_may_be_chosen(sent):
    fields = {"pixels": ("vec3ub", (2, 2))}
    assert (
        sent(Image, fields, {"data": "pixels"}, encoding="bgr8")
        .message({"pixels": np.ones((2, 2, 3), np.uint8)})
        .encoding
        == "bgr8"
    )
    with pytest.raises(MisfitError, match=r"encoding 'mono8' is not of field 'pixels' .*; one of rgb8, bgr8, 8UC3 is"):
        sent(Image, fields, {"data": "pixels"}, encoding="mono8")


@given(st.data())
def test_imus_are_those_of_the_ring(sent, stamp, data):
    numbers = st.floats(allow_nan=False, width=32)
    values = {
        "q": data.draw(arrays(np.float32, 4, elements=numbers)),
        "a": data.draw(arrays(np.float64, (2, 3), elements=numbers)),
    }
    made = sent(Imu, {"q": ("quatf", ()), "a": ("vec3d", (2,))}, {"orientation": "q", "linear_acceleration": "a[1]"})
    expected = msg.Imu()
    expected.header.stamp, expected.header.frame_id = stamp[1], "base_link"
    for axis, value in zip("xyzw", values["q"]):
        setattr(expected.orientation, axis, float(value))
    for axis, value in zip("xyz", values["a"][1]):
        setattr(expected.linear_acceleration, axis, float(value))
    expected.angular_velocity_covariance[0] = -1.0
    assert repr(made.message(values)) == repr(expected)
