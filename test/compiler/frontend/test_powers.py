"""x ** y: products where the exponent is a whole number known at build, the library's pow elsewhere."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.powers import repeated
from sim_node.errors import BuildError, BuildTypeError, UnsupportedError

N = 5


@sn.kernel
def whole(x: sn.array(dtype=int), out: sn.array(dtype=int)):
    i = sn.tid()
    out[4 * i] = x[i] ** 0
    out[4 * i + 1] = x[i] ** 1
    out[4 * i + 2] = x[i] ** 2
    out[4 * i + 3] = x[i] ** N


@sn.kernel
def floats(x: sn.array(dtype=float), y: sn.array(dtype=float), out: sn.array(dtype=float)):
    i = sn.tid()
    out[6 * i] = x[i] ** 2
    out[6 * i + 1] = x[i] ** 7
    out[6 * i + 2] = x[i] ** -3
    out[6 * i + 3] = x[i] ** 0.5
    out[6 * i + 4] = x[i] ** y[i]
    z = x[i]
    z **= 3
    out[6 * i + 5] = z + 2.0**-3


@sn.kernel
def doubles(x: sn.array(dtype=sn.float64), out: sn.array(dtype=sn.float64)):
    i = sn.tid()
    out[2 * i] = x[i] ** 2
    out[2 * i + 1] = 2.0 ** x[i]


def test_of_integers_it_wraps():
    x = np.array([0, 1, -3, 7, 123456], np.int32)
    out = np.zeros(20, np.int32)
    sn.launch(whole, 5, [x], [out])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, np.stack([x**0, x, x**2, x**5], 1).ravel())


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_of_floats_it_is_rounded_once(device):
    x = np.random.default_rng(2).uniform(0.5, 2.0, 100).astype(np.float32)
    y, out = -x, np.zeros(600, np.float32)
    sn.launch(floats, 100, [x, y], [out], device=device)
    wide = x.astype(np.float64)
    cube = (wide**3).astype(np.float32) + np.float32(0.125)
    wanted = np.stack([wide**2, wide**7, wide**-3, wide**0.5, wide ** y.astype(np.float64), cube], 1).ravel()
    np.testing.assert_allclose(out, wanted, rtol=6e-8, atol=0)


def test_of_f64():
    x, out = np.array([3.0, 0.5]), np.zeros(4)
    sn.launch(doubles, 2, [x], [out])
    assert out.tolist() == [9.0, 8.0, 0.25, 2.0**0.5]


@sn.kernel
def halves(x: sn.array(dtype=sn.float16), y: sn.array(dtype=sn.float16), out: sn.array(dtype=sn.float16)):
    i = sn.tid()
    out[4 * i] = x[i] ** 2
    out[4 * i + 1] = x[i] ** 3
    out[4 * i + 2] = x[i] ** y[i]
    out[4 * i + 3] = 2.0 ** x[i]


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_of_f16_it_is_that_of_more_digits_rounded(device):
    x = np.random.default_rng(3).uniform(0.5, 2.0, 100).astype(np.float16)
    y, out = -x, np.zeros(400, np.float16)
    sn.launch(halves, 100, [x, y], [out], device=device)
    wide = x.astype(np.float64)
    wanted = np.stack([wide**2, wide**3, wide ** y.astype(np.float64), 2.0**wide], 1).ravel().astype(np.float16)
    np.testing.assert_array_equal(out, wanted)


@sn.kernel
def at_run_time(x: sn.array(dtype=int)):
    x[0] = x[0] ** x[1]


@sn.kernel
def negative(x: sn.array(dtype=int)):
    x[0] = x[0] ** -1


@pytest.mark.parametrize(
    ("kernel", "error", "what", "remedy"),
    [
        (at_run_time, UnsupportedError, "known only when the kernel runs", r"float\(x\[0\]\) \*\* float\(x\[1\]\)"),
        (negative, BuildError, "an integer to a negative power is a float in Python", r"float\(x\[0\]\) \*\* float"),
    ],
)
def test_integers_have_no_other_powers(kernel, error, what, remedy):
    with pytest.raises(error, match=what) as refusal:
        lower(kernel)
    assert refusal.match(remedy)


def test_a_product_by_squares():
    for exponent in range(1, 20):
        assert repeated(lambda a, b: a + b, 1, exponent) == exponent


def test_bools_have_no_powers(refusal):
    refusal("x[0] = float(¦flag ** flag)", BuildTypeError, "'**' does not take bool", "float(…) of both")
