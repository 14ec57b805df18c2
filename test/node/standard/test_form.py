import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from sim_node import dtypes
from sim_node.layout import Layout
from sim_node.node.standard.form import MisfitError, elements, header, numbers, vectors
from sim_node.part import Part

F64 = np.dtype(np.float64)
LAYOUT = Layout.of([("x", dtypes.named("vec3f"), (4,), ""), ("q", dtypes.named("quatf"), (4,), "")])


@pytest.mark.parametrize(
    ("want", "taken", "refused"),
    [
        (numbers(1, ""), [(), (3,)], [(2, 3)]),
        (vectors(3, ""), [(3,), (5, 3)], [(), (4,), (2, 2, 3)]),
        (vectors(3, "", axes=2), [(3,), (2, 2, 3)], [(2, 2, 2, 3)]),
        (vectors(4, "", axes=0), [(4,)], [(1, 4)]),
    ],
)
def test_shapes_are_taken_or_not(want, taken, refused):
    assert all(want.takes(shape, F64) for shape in taken)
    assert not any(want.takes(shape, F64) for shape in refused)


def test_elements_are_counted_and_agree():
    parts = {"position": Part.parse("x", LAYOUT), "orientation": Part.parse("q[:3]", LAYOUT)}
    assert elements({"position": parts["position"]}, {"position": 3}) == 4
    with pytest.raises(MisfitError, match="as many for each member: position has 4 and orientation has 3"):
        elements(parts, {"position": 3, "orientation": 4})


def test_a_header_has_a_frame_and_a_stamp():
    frame, stamp = header("map")
    assert (frame.name, frame.default, stamp.name) == ("frame_id", "map", "stamp")
