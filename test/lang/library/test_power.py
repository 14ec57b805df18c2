"""x^y within 0.501 units in the last place, and C99's special values."""

import numpy as np
import pytest

import sim_node as sn


@sn.kernel
def powers(x: sn.array(dtype=float), y: sn.array(dtype=float), z: sn.array(dtype=float)):
    i = sn.tid()
    z[i] = sn.pow(x[i], y[i])


def power(x, y):
    x, y = np.broadcast_arrays(np.asarray(x, np.float32), np.asarray(y, np.float32))
    x, y, z = x.ravel().copy(), y.ravel().copy(), np.zeros(x.size, np.float32)
    sn.launch(powers, len(x), [x, y], [z])
    return z


def test_within_half_a_unit_in_the_last_place(measuring, rng):
    assert measuring.measure_f32("pow", rng, 50_000)["worst"] <= 0.501


def test_whole_powers_of_small_numbers_are_exact():
    x = np.arange(-64, 65, dtype=np.float32)
    for n in range(5):
        np.testing.assert_array_equal(power(x, n), x.astype(np.float64) ** n)


SPECIAL = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 16777215.0, 16777216.0, 3e38, 1e-45, np.inf], np.float32)
SPECIAL = np.concatenate([SPECIAL, -SPECIAL, np.array([np.nan], np.float32)])


def test_special_values_are_those_of_c99():
    x, y = (values.ravel() for values in np.meshgrid(SPECIAL, SPECIAL))
    with np.errstate(all="ignore"):
        wanted = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
        plain = np.array([sn.pow(a, b) for a, b in zip(x, y)])
    for result in (power(x, y), plain):
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, wanted)
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize("features", ["", "-avx512f,-fma,-fma4"])
@pytest.mark.parametrize("level", [0, 3])
def test_the_same_bits_on_every_processor(features, level, compiled, rng):
    x = np.exp(rng.uniform(-8, 8, 50_000)).astype(np.float32)
    y = rng.uniform(-9, 9, len(x)).astype(np.float32)
    np.testing.assert_array_equal(compiled(powers, level, features)(x, y).view(np.uint32), power(x, y).view(np.uint32))
