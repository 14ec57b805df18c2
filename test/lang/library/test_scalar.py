"""The library's scalar funcs run in plain Python too: exact against C's and Python's own."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sim_node as sn
from sim_node.lang.library import scalar

doubles = st.floats() | st.sampled_from([5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 0.0, -0.0])


@settings(max_examples=400, deadline=None, database=None)
@given(doubles, doubles)
@example(1.7976931348623157e308, 5e-324)
@example(-6.0, 5.0)
@example(5e-324, 2.5e-323)
def test_fmod_is_exact(x, y):
    with np.errstate(all="ignore"):
        got, wanted = scalar.fmod(np.float64(x), np.float64(y)), np.fmod(np.float64(x), np.float64(y))
    np.testing.assert_equal(got, wanted)
    assert math.isnan(wanted) or math.copysign(1.0, got) == math.copysign(1.0, wanted)


@settings(max_examples=200, deadline=None, database=None)
@given(doubles, doubles.filter(bool))
def test_python_division(x, y):
    with np.errstate(all="ignore"):
        for func, wanted in ((scalar.modulo_f64, x % y), (scalar.floor_divide_f64, x // y)):
            got = func(np.float64(x), np.float64(y))
            np.testing.assert_equal(got, wanted)
            assert math.isnan(wanted) or math.copysign(1.0, got) == math.copysign(1.0, wanted)


@pytest.mark.parametrize("a", [-128, -7, -1, 0, 1, 6, 127])
@pytest.mark.parametrize("b", [-128, -3, -1, 1, 2, 127])
def test_flooring_integers(a, b):
    assert scalar.modulo_int(np.int64(a), np.int64(b)) == a % b
    assert scalar.floor_divide_int(np.int64(a), np.int64(b)) == a // b


def test_remainder_of_the_least_integer_by_minus_one():
    assert scalar.modulo_int(np.int32(-(2**31)), np.int32(-1)) == 0


def test_python_min_depends_on_the_order():
    nan = float("nan")
    assert math.isnan(scalar.smaller(nan, 1.0)) == math.isnan(min(nan, 1.0))
    assert math.isnan(scalar.smaller(1.0, nan)) == math.isnan(min(1.0, nan))
    assert math.copysign(1.0, scalar.larger(-0.0, 0.0)) == math.copysign(1.0, max(-0.0, 0.0))


def test_shaping():
    x = np.float32(0.75)
    assert sn.clamp(x, -0.5, 0.5) == 0.5
    assert sn.clamp(-x, -0.5, 0.5) == -0.5
    assert sn.clamp(np.float32(np.nan), -0.5, 0.5) == -0.5
    assert [sn.sign(np.float32(v)) for v in (-2.0, -0.0, 3.0, np.inf)] == [-1.0, 1.0, 1.0, 1.0]
    assert sn.sign(np.int32(-4)).dtype == np.int32
    assert sn.lerp(np.float32(2), np.float32(4), 0.25) == 2.5
