import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

pytest.importorskip("rclpy", reason="installed without ROS")

from std_msgs.msg import Float64MultiArray, MultiArrayDimension

from sim_node.node.standard.form import MisfitError
from sim_node.node.standard.std_msgs import MultiArray


@given(st.data(), array_shapes(min_dims=0, max_dims=4, max_side=4), st.sampled_from(["f32", "i64", "bool", "u8"]))
def test_numbers_of_any_shape_are_those_of_the_ring(sent, data, shape, dtype):
    made = sent(MultiArray, {"x": (dtype, shape)}, {"data": "x"})
    values = data.draw(arrays(made.layout["x"].element.numpy, shape))
    expected = Float64MultiArray(data=[float(value) for value in values.ravel()])
    expected.layout.dim = [
        MultiArrayDimension(size=size, stride=math.prod(shape[axis:])) for axis, size in enumerate(shape)
    ]
    assert repr(made.message({"x": values})) == repr(expected)


def test_axes_have_names(sent):
    made = sent(MultiArray, {"x": ("vec3f", (2,))}, {"data": "x"}, names=("corner", "axis"))
    assert [axis.label for axis in made.message(made.values()).layout.dim] == ["corner", "axis"]
    with pytest.raises(MisfitError, match=r"names has 1 names, and data has 2 axes: \[2, 3\]"):
        sent(MultiArray, {"x": ("vec3f", (2,))}, {"data": "x"}, names=("corner",))
