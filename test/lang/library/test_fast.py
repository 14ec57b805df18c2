"""Kernels with fast_math get functions of f32 that are nearly right, with the same bits everywhere."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.lang.library import fast

RANGES = {
    "exp": ((-104.0, 89.0), 1.1),
    "log": ((1e-45, 1e30), 1.0),
    "sin": ((-1e6, 1e6), 2.0),
    "cos": ((-1e6, 1e6), 2.0),
    "tan": ((-1e6, 1e6), 5.0),
}
EVERY = pytest.mark.parametrize("name", RANGES)


def kernel(name, options):
    function = getattr(sn, name)

    @sn.kernel(fast_math=options)
    def each(x: sn.array(dtype=float), y: sn.array(dtype=float)):
        i = sn.tid()
        y[i] = function(x[i])

    return each


def run(name, x, options="reproducible"):
    y = np.zeros_like(x)
    sn.launch(kernel(name, options), len(x), [x], [y])
    return y


def numbers(name, rng):
    low, high = RANGES[name][0]
    near = rng.uniform(0.1, 4.0, 200_000)
    return np.concatenate([near, rng.uniform(low, high, 200_000)]).astype(np.float32)


@EVERY
def test_within_a_few_units_in_the_last_place(name, rng):
    x = numbers(name, rng)
    with np.errstate(all="ignore"):
        true = getattr(np, name)(x.astype(np.float64))
        errors = np.abs(run(name, x) - true) / np.spacing(np.abs(true.astype(np.float32)))
    assert np.max(errors[np.isfinite(errors)]) <= RANGES[name][1]
    assert np.any(run(name, x) != run(name, x, False))


@EVERY
@pytest.mark.parametrize("level", [0, 3])
def test_the_same_bits_at_every_level_and_in_plain_python(name, level, compiled, rng):
    x = numbers(name, rng)
    result = run(name, x).view(np.uint32)
    np.testing.assert_array_equal(compiled(kernel(name, "reproducible"), level)(x).view(np.uint32), result)
    some = slice(0, len(x), 997)
    plain = np.array([getattr(fast, name)(value) for value in x[some]])
    assert plain.dtype == np.float32
    np.testing.assert_array_equal(plain.view(np.uint32), result[some])


@pytest.mark.parametrize(
    ("name", "x", "wanted"),
    [
        ("exp", [np.inf, -np.inf, np.nan, 0.0, 100.0, -110.0], [np.inf, 0.0, np.nan, 1.0, np.inf, 0.0]),
        ("log", [np.inf, 0.0, -0.0, -1.0, np.nan, 1.0], [np.inf, -np.inf, -np.inf, np.nan, np.nan, 0.0]),
        ("sin", [np.inf, np.nan, 2e6, -0.0], [np.nan, np.nan, np.nan, -0.0]),
        ("cos", [np.inf, np.nan, -2e6, 0.0], [np.nan, np.nan, np.nan, 1.0]),
        ("tan", [np.inf, np.nan, 2e6, 0.0], [np.nan, np.nan, np.nan, 0.0]),
    ],
)
def test_special_values(name, x, wanted):
    np.testing.assert_array_equal(run(name, np.array(x, np.float32)), np.array(wanted, np.float32))


@sn.kernel(fast_math="reproducible")
def quick_double(x: sn.array(dtype=sn.float64)):
    x[0] = sn.sin(x[0])


@sn.kernel(fast_math="reproducible")
def quick_atan(x: sn.array(dtype=float)):
    x[0] = sn.atan(x[0])


def test_other_functions_and_types_stay_as_they_are():
    for kernel, function, kind in ((quick_double, sn.sin, np.float64), (quick_atan, sn.atan, np.float32)):
        x = np.array([0.7], kind)
        sn.launch(kernel, 1, [], [x])
        assert x[0] == function(kind(0.7))
