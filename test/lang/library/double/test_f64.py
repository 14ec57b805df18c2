"""Each function of f64 is within one unit in the last place, everywhere, and has C99's special values."""

import math

import numpy as np
import pytest

import sim_node as sn
from sim_node.lang.library import MATH

_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
_TWO = ("atan2", "hypot", "pow")
EVERY = pytest.mark.parametrize("name", [*MATH, *_TWO])


def kernel(name):
    function = getattr(sn, name)

    @sn.kernel
    def one(x: sn.array(dtype=sn.float64), z: sn.array(dtype=sn.float64)):
        i = sn.tid()
        z[i] = function(x[i])

    @sn.kernel
    def two(x: sn.array(dtype=sn.float64), y: sn.array(dtype=sn.float64), z: sn.array(dtype=sn.float64)):
        i = sn.tid()
        z[i] = function(x[i], y[i])

    return two if name in _TWO else one


def run(name, inputs):
    result = np.zeros_like(inputs[0])
    sn.launch(kernel(name), len(result), inputs, [result])
    return result


@EVERY
def test_within_a_unit_in_the_last_place(name, measuring, rng):
    assert measuring.measure_f64(name, rng, 8000)["worst"] <= 1.0


SPECIAL = (
    0,
    0.5,
    1,
    1.5,
    2,
    3,
    4,
    1e-310,
    5e-324,
    2.2250738585072014e-308,
    1e308,
    710,
    745.2,
    1024,
    2.0**53,
    1.7976931348623157e308,
    math.inf,
)
SPECIAL = np.array([*SPECIAL, *(-value for value in SPECIAL), math.nan])


@EVERY
def test_special_values_are_those_of_c99(name):
    arguments = [values.ravel().copy() for values in np.meshgrid(*[SPECIAL] * (2 if name in _TWO else 1))]
    with np.errstate(all="ignore"):
        if name == "erf":
            wanted = np.array([math.erf(value) for value in arguments[0]])
        else:
            wanted = getattr(np, _NUMPY.get(name, name))(*arguments)
        plain = np.array([getattr(sn, name)(*values) for values in zip(*arguments)])
    result = run(name, arguments)
    np.testing.assert_array_equal(plain, result)
    assert plain.dtype == np.float64
    np.testing.assert_allclose(result, wanted, rtol=4e-16, atol=0)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize("features", ["", "-avx512f,-fma,-fma4"])
@pytest.mark.parametrize("level", [0, 3])
@EVERY
def test_the_same_bits_on_every_processor(name, level, features, compiled, measuring, rng):
    arguments = measuring.arguments(name, rng, 5000)
    result = compiled(kernel(name), level, features)(*arguments)
    np.testing.assert_array_equal(result.view(np.uint64), run(name, arguments).view(np.uint64))
