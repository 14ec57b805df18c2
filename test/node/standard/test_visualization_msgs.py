import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

pytest.importorskip("rclpy", reason="installed without ROS")

from geometry_msgs.msg import Point, Quaternion, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs import msg

from sim_node.node.standard.form import MisfitError
from sim_node.node.standard.visualization_msgs import LISTS, SINGLE, MarkerArray

NUMBERS = st.floats(allow_nan=False, width=32)
SHARES = st.floats(0, 1, width=32)


@given(st.data(), st.integers(1, 7), st.text("ab", max_size=9), st.sampled_from([*SINGLE]))
def test_markers_are_those_of_the_ring(sent, stamp, data, count, frame, shape):
    values = {
        "x": data.draw(arrays(np.float32, (count, 3), elements=NUMBERS)),
        "q": data.draw(arrays(np.float64, (count, 4), elements=NUMBERS)),
        "c": data.draw(arrays(np.float32, (count, 4), elements=SHARES)),
    }
    fields = {"x": ("vec3f", (count,)), "q": ("quatd", (count,)), "c": ("vec4f", (count,))}
    members = {"position": "x", "orientation": "q", "scale": "x", "color": "c"}
    made = sent(MarkerArray, fields, members, frame_id=frame, marker=shape)
    expected = msg.MarkerArray()
    for i in range(count):
        marker = msg.Marker(id=i, ns="sent", type=SINGLE[shape])
        marker.header.stamp, marker.header.frame_id = stamp[1], frame
        x, q, c = (values[name][i].tolist() for name in "xqc")
        marker.pose.position, marker.scale = Point(x=x[0], y=x[1], z=x[2]), Vector3(x=x[0], y=x[1], z=x[2])
        marker.pose.orientation = Quaternion(x=q[0], y=q[1], z=q[2], w=q[3])
        marker.color = ColorRGBA(r=c[0], g=c[1], b=c[2], a=c[3])
        expected.markers.append(marker)
    assert made.message(values) == expected


@given(st.data(), st.integers(1, 4), st.sampled_from([*LISTS]), st.booleans())
def test_lists_are_those_of_the_ring(sent, stamp, data, groups, shape, coloured):
    count = 6 * groups
    values = {
        "x": data.draw(arrays(np.float64, (count, 3), elements=NUMBERS)),
        "c": data.draw(arrays(np.float64, (count, 4), elements=SHARES)),
    }
    members = {"position": "x", **({"color": "c"} if coloured else {})}
    made = sent(
        MarkerArray,
        {"x": ("vec3d", (count,)), "c": ("vec4d", (count,))},
        members,
        marker=shape,
        size=0.5,
        color="#ff0033",
    )
    marker = msg.Marker(ns="sent", type=LISTS[shape], scale=Vector3(x=0.5, y=0.5, z=0.5))
    marker.header.stamp, marker.header.frame_id = stamp[1], "map"
    marker.color = ColorRGBA(r=1.0, g=0.0, b=float(np.float32(0.2)), a=1.0)
    marker.points = [Point(x=x[0], y=x[1], z=x[2]) for x in values["x"].tolist()]
    if coloured:
        marker.colors = [ColorRGBA(r=c[0], g=c[1], b=c[2], a=c[3]) for c in values["c"].tolist()]
    assert made.message(values) == msg.MarkerArray(markers=[marker])


@pytest.mark.parametrize(
    ("members", "options", "why"),
    [
        (
            {"position": "x", "orientation": "q"},
            {"marker": "points"},
            "orientation cannot be filled for marker 'points'",
        ),
        ({"position": "x", "scale": "x"}, {"marker": "line"}, "scale cannot be filled for marker 'line'"),
        ({"position": "x"}, {"marker": "triangles"}, "takes points in groups of 3, and there are 4"),
        ({"position": "x"}, {"color": "red"}, "color 'red' is not of the form #rrggbb or #rrggbbaa"),
        ({"position": "x", "color": "c"}, {}, "position has 4 and color has 2"),
    ],
)
def test_what_does_not_fit_is_refused(sent, members, options, why):
    fields = {"x": ("vec3f", (4,)), "q": ("quatf", (4,)), "c": ("vec4f", (2,))}
    with pytest.raises(MisfitError, match=why):
        sent(MarkerArray, fields, members, **options)
