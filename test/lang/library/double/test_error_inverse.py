"""erfc, erfinv and erfcinv: near the true values in f64, rounded from there in f32, and inverse to each other."""

import numpy as np
import pytest

import sim_node as sn


def kernel(name, dtype):
    function = getattr(sn, name)

    @sn.kernel
    def each(x: sn.array(dtype=dtype), z: sn.array(dtype=dtype)):
        i = sn.tid()
        z[i] = function(x[i])

    return each


def run(name, x):
    z = np.zeros_like(x)
    sn.launch(kernel(name, x.dtype.type), len(x), [x], [z])
    return z


def arguments(name, rng):
    if name == "erfc":
        return np.concatenate([rng.uniform(-6, 26.5, 1000), rng.normal(0, 1, 1000)])
    below = 10.0 ** rng.uniform(-300, 0, 300)
    return (
        np.concatenate([rng.uniform(-1, 1, 300), below])
        if name == "erfinv"
        else np.concatenate([2 * rng.random(300), below])
    )


def true(name, x):
    import gmpy2
    from mpmath import mp

    if name == "erfc":
        return gmpy2.erfc(x)
    with mp.workprec(1200):
        value = mp.mpf(float(x))
        return gmpy2.mpfr(str(mp.erfinv(value if name == "erfinv" else 1 - value)))


EVERY = pytest.mark.parametrize("name", ["erfc", "erfinv", "erfcinv"])


@EVERY
def test_within_five_units_in_the_last_place(name, measuring, rng):
    pytest.importorskip("mpmath", reason="the reference of the inverses")
    x = arguments(name, rng)
    x = x if name == "erfc" else x[::6].copy()
    assert measuring.worst(run(name, x), lambda value: true(name, value), x)[0] <= 5.0


@EVERY
def test_of_f32_it_is_that_of_f64_rounded(name, rng):
    x = arguments(name, rng).astype(np.float32)
    wide = run(name, x.astype(np.float64))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(name, x), wide.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype):
    def of(name, *values):
        return run(name, np.array(values, dtype)).tolist()

    assert of("erfc", np.inf, -np.inf, 0.0, 30.0) == [0.0, 2.0, 1.0, 0.0]
    assert of("erfinv", 1.0, -1.0, 0.0) == [np.inf, -np.inf, 0.0]
    assert of("erfcinv", 0.0, 2.0, 1.0) == [np.inf, -np.inf, 0.0]
    outside = [*of("erfc", np.nan), *of("erfinv", 1.5, -2.0, np.nan), *of("erfcinv", -0.5, 2.5, np.nan)]
    assert np.isnan(outside).all()
