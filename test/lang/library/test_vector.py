"""Vector funcs in plain Python, on the arrays that stand for vectors there."""

import numpy as np
import pytest

import sim_node as sn


@pytest.mark.parametrize("make", [sn.vec2, sn.vec3, sn.vec4d])
def test_dot_and_length(make):
    parts = [1.0, -2.0, 3.0, 5.0][: make.length]
    v = make(*parts)
    assert sn.dot(v, v) == sn.length_sq(v) == sum(part * part for part in parts)
    assert sn.length(v) == np.sqrt(make.numpy.type(sn.length_sq(v)))
    np.testing.assert_array_equal(sn.normalize(v), v / sn.length(v))


def test_cross():
    np.testing.assert_array_equal(sn.cross(sn.vec3d(1, 0, 0), sn.vec3d(0, 1, 0)), [0.0, 0.0, 1.0])


def test_a_vector_of_length_zero_stays_zero():
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(sn.normalize(sn.vec3(0.0, -0.0, 0.0)), [0.0, 0.0, 0.0])
