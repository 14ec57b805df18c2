"""The library's scalar funcs run in plain Python too: exact against C's and Python's own."""

import math

import numpy as np
import pytest
from devices import EVERY
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sim_node as sn
from sim_node import dtypes
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


NUMBERS = [kind for kind in dtypes.SCALARS if kind is not dtypes.bool_]


def limits(kind):
    """Numbers of a type, its least and its greatest among them."""
    ends = np.iinfo(kind.numpy) if kind.is_integer else np.finfo(kind.numpy)
    return np.array([ends.min, ends.max, 0, 1, 2, ends.max if ends.min == 0 else -1], kind.numpy)


@EVERY
@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_every_type_of_number_has_them(device, kind):
    vector = sn.types.vector(length=3, dtype=kind)

    @sn.kernel
    def shaped(x: sn.array(dtype=kind), y: sn.array2d(dtype=kind)):
        i = sn.tid()
        a, one, two = x[i], kind(1), kind(2)
        y[i, 0], y[i, 1], y[i, 2] = sn.sign(a), sn.step(a), sn.abs(a)
        y[i, 3], y[i, 4], y[i, 5] = sn.min(a, one), sn.max(a, one), sn.clamp(a, one, two)
        y[i, 6], y[i, 7], y[i, 8] = sn.nonzero(a), sn.min(vector(a, one, two)), sn.max(vector(a, one, two))
        signs = sn.sign(vector(a, one, -a))
        y[i, 9], y[i, 10], y[i, 11] = signs[0], signs[2], sn.clamp(vector(a), vector(one), vector(two))[1]

    x = limits(kind)
    with np.errstate(over="ignore"):
        below, one, minus, two = x < 0, kind.numpy.type(1), np.negative(x), kind.numpy.type(2)
        signs = [np.where(each, kind.numpy.type(0) - one, one) for each in (below, minus < 0)]
        sizes = np.where(below, minus, x)
    between = np.clip(x, one, two)
    wanted = [signs[0], below, sizes, np.minimum(x, one), np.maximum(x, one), between, x != 0,
              np.minimum(x, one), np.maximum(x, two), *signs, between]  # fmt: skip
    y = sn.zeros((x.size, 12), kind, device=device)
    sn.launch(shaped, x.size, [sn.array(x, device=device)], [y], device=device)
    assert np.array_equal(y.numpy(), np.stack(wanted, 1).astype(kind.numpy))
    assert [sn.sign(value) for value in x] == signs[0].tolist()
