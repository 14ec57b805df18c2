import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="installed without ROS")

from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray

from sim_node.layout import Field
from sim_node.msg import Topic
from sim_node.node.standard.geometry_msgs import PoseArray, Wrench
from sim_node.node.standard.reading import Reading
from sim_node.node.standard.sensor_msgs import Cloud, Image, Imu, JointState
from sim_node.node.standard.std_msgs import MultiArray
from sim_node.node.standard.visualization_msgs import MarkerArray

X, Q = ("vec3f", (5,)), ("quatf", (5,))
CASES = [
    (JointState, {"x": ("f32", (3,)), "v": ("i64", (3,))}, {"position": "x", "effort": "v"}, {"names": (*"abc",)}),
    (Cloud, {"x": X, "up": ("vec2f", (5,)), "n": ("u8", (5,))}, {"position": "x", "normal": "up", "n": "n"}, {}),
    (Cloud, {"x": ("vec3f", (2, 3))}, {"position": "x"}, {}),
    (Image, {"depth": ("f32", (3, 4))}, {"data": "depth"}, {}),
    (Imu, {"q": Q}, {"orientation": "q[2]"}, {}),
    (PoseArray, {"x": X, "q": Q}, {"position": "x", "orientation": "q"}, {"frame_id": "world"}),
    (Wrench, {"x": X}, {"force": "x[0]", "torque": "x[1]"}, {}),
    (MultiArray, {"x": ("bool", (3, 2))}, {"data": "x"}, {}),
    (MarkerArray, {"x": X, "q": Q}, {"position": "x", "orientation": "q"}, {}),
    (MarkerArray, {"x": X, "c": ("vec4f", (5,))}, {"position": "x", "color": "c"}, {"marker": "line"}),
]  # fmt: skip


def reading_of(made):
    parts = made.output.parts
    texts = [part.text for part in parts.values()]
    return Reading(Topic(name="/t", type=made.form.name(), members=list(parts), fields=texts), made.layout)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0].__name__}-{i}" for i, case in enumerate(CASES)])
def test_what_was_sent_is_read(sent, case):
    form, fields, members, options = case
    made = sent(form, fields, members, **options)
    reading = reading_of(made)
    before = None
    for seed in range(3):
        values = made.values(seed)
        read, stamp_ns = reading.read(made.output.fill(values, 10**9 + seed))
        assert stamp_ns == (None if form is MultiArray else 10**9 + seed)
        assert set(read) == set(members.values())
        for part in made.output.parts.values():
            assert read[part.text].dtype == part.dtype
            assert np.array_equal(read[part.text], part.of(values[part.field.name]))
            assert before is None or not np.shares_memory(before[part.text], read[part.text])
        before = read


def test_messages_of_another_size_are_read_too(sent):
    short, long = (
        sent(PoseArray, {"x": X}, {"position": "x"}, frame_id=frame, rate=1.0) for frame in ("a", "a longer one")
    )
    reading = reading_of(short)
    for made in (short, long, short):
        values = made.values()
        assert np.array_equal(reading.read(made.output.fill(values, 0))[0]["x"], values["x"])


@given(st.binary(max_size=80))
def test_what_is_no_such_message_is_refused(sent, raw):
    reading = reading_of(sent(MultiArray, {"x": X}, {"data": "x"}))
    with pytest.raises(ValueError, match=r"std_msgs/msg/Float64MultiArray|cannot reshape"):
        reading.read(raw)
    with pytest.raises(ValueError, match="reshape"):
        reading.read(serialize_message(Float64MultiArray(data=[1.0, 2.0])))


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        (
            Topic(name="/t", type="std_msgs/msg/String"),
            "topic '/t' of std_msgs/msg/String is not of a type that is known",
        ),
        (Topic(type="std_msgs/msg/Float64MultiArray", members=["data"]), "is not of a type"),
        (Topic(type="std_msgs/msg/Float64MultiArray", members=["data"], fields=["y"]), "no published field 'y'"),
    ],
)
def test_an_announcement_without_sense_is_refused(topic, why):
    with pytest.raises(ValueError, match=why):
        Reading(topic, [Field("x", "f32", (3,), 0)])
