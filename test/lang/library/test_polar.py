"""hypot and atan2 within 0.501 units in the last place, and C99's special values."""

import numpy as np
import pytest

import sim_node as sn


@sn.kernel
def angles(y: sn.array(dtype=float), x: sn.array(dtype=float), z: sn.array(dtype=float)):
    i = sn.tid()
    z[i] = sn.atan2(y[i], x[i])


@sn.kernel
def lengths(x: sn.array(dtype=float), y: sn.array(dtype=float), z: sn.array(dtype=float)):
    i = sn.tid()
    z[i] = sn.hypot(x[i], y[i])


FUNCTIONS = pytest.mark.parametrize(
    ("kernel", "name", "numpy"), [(angles, "atan2", np.arctan2), (lengths, "hypot", np.hypot)]
)


def run(kernel, x, y):
    z = np.zeros_like(x)
    sn.launch(kernel, len(x), [x, y], [z])
    return z


@pytest.mark.parametrize("name", ["atan2", "hypot"])
def test_within_half_a_unit_in_the_last_place(name, measuring, rng):
    assert measuring.measure_f32(name, rng, 50_000)["worst"] <= 0.501


SPECIAL = np.array([0.0, 1e-45, 1.1754944e-38, 0.41421356, 1.0, 2.4142137, 3e38, np.inf], np.float32)
SPECIAL = np.concatenate([SPECIAL, -SPECIAL, np.array([np.nan], np.float32)])


@FUNCTIONS
def test_special_values_are_those_of_c99(kernel, name, numpy):
    x, y = (values.ravel() for values in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        wanted = numpy(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
        plain = np.array([getattr(sn, name)(a, b) for a, b in zip(x, y)])
    for result in (run(kernel, x, y), plain):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, wanted)
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(wanted[numbers]))


@FUNCTIONS
@pytest.mark.parametrize("features", ["", "-avx512f,-fma,-fma4"])
@pytest.mark.parametrize("level", [0, 3])
def test_the_same_bits_on_every_processor(kernel, name, numpy, features, level, compiled, measuring, rng):
    x, y = measuring.pairs(name, rng, 50_000, np.float32)
    result = compiled(kernel, level, features)(x, y)
    np.testing.assert_array_equal(result.view(np.uint32), run(kernel, x, y).view(np.uint32))
