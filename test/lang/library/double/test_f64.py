"""Each function of f64 is within one unit in the last place, everywhere, and has C99's special values."""

import math

import numpy as np
import pytest

import sim_node as sn
from sim_node.lang.library import MATH

COUNT = 1500
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


def bits(rng):
    """Numbers of every size."""
    return rng.integers(0, 2**64, COUNT, dtype=np.uint64).view(np.float64)


def subnormal(rng):
    return rng.integers(1, 2**52, COUNT, dtype=np.uint64).view(np.float64)


def near_quarters(rng):
    """Angles next to whole quarter turns, and the f64 that comes closest to one (Muller, "Elementary Functions")."""
    angles = rng.integers(1, 10**6, COUNT) * (np.pi / 2)
    large = 10.0 ** rng.uniform(5, 308, COUNT)
    return np.concatenate([angles, np.nextafter(angles, 0), large, [6381956970095103 * 2.0**797]])


def inputs(name, rng):
    """Arguments, by the ranges in which the functions differ."""
    uniform, around, tiny = rng.uniform, rng.normal(0, 3, COUNT), rng.normal(0, 1e-5, COUNT)
    if name == "pow":
        x = np.concatenate([np.exp(uniform(-700, 700, COUNT)), 1 + tiny, uniform(0.4, 2.6, COUNT)])
        return [x, uniform(-745, 709, len(x)) / np.log(x)]
    if name in _TWO:
        x = np.concatenate([bits(rng), around])
        with np.errstate(all="ignore"):
            return [x, x * np.exp(rng.normal(0, 3, len(x)))]
    special = {
        "exp2": [uniform(-1080, 1030, COUNT)],
        "log": [1 + tiny, uniform(0.4, 2.5, COUNT)],
        "log1p": [tiny, uniform(-1, 3, COUNT), 10.0 ** uniform(-16, 0, COUNT) - 1],
        "sin": [near_quarters(rng)],
        "asin": [uniform(-1, 1, COUNT), 1 - 10.0 ** uniform(-16, 0, COUNT)],
        "erf": [uniform(-7, 7, COUNT)],
        "cbrt": [],
        "exp": [uniform(-750, 720, COUNT)],
    }
    like = {"log2": "log", "log10": "log", "cos": "sin", "tan": "sin", "acos": "asin", "atan": "cbrt"}
    own = special.get(like.get(name, name), special["exp"])
    return [np.concatenate([bits(rng), subnormal(rng), around, *own])]


@EVERY
def test_within_a_unit_in_the_last_place(name, exactly, rng):
    arguments = inputs(name, rng)
    finite = np.logical_and.reduce([np.isfinite(values) for values in arguments])
    arguments = [values[finite].copy() for values in arguments]
    if name in ("log", "log2", "log10"):
        arguments = [np.abs(arguments[0])]
    if name == "log1p":
        arguments = [arguments[0][arguments[0] > -1].copy()]
    if name in ("asin", "acos"):
        arguments = [arguments[0][np.abs(arguments[0]) <= 1].copy()]
    function = (lambda a, b: a**b) if name == "pow" else exactly.function(name)
    assert exactly.worst(run(name, arguments), function, *arguments) <= 1.0


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
def test_the_same_bits_on_every_processor(name, level, features, compiled, rng):
    arguments = inputs(name, rng)
    result = compiled(kernel(name), level, features)(*arguments)
    np.testing.assert_array_equal(result.view(np.uint64), run(name, arguments).view(np.uint64))
