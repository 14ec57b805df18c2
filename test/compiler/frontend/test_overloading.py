"""Operators of structs, which funcs of the module make."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.fingerprint import fingerprint
from sim_node.errors import BuildTypeError


@sn.struct
class Complex:
    re: float
    im: float


@sn.func
def add(a: Complex, b: Complex) -> Complex:
    return Complex(a.re + b.re, a.im + b.im)


@sn.func
def mul(a: Complex, b: Complex) -> Complex:
    return Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


@sn.func
def mul(a: float, b: Complex) -> Complex:  # noqa: F811 - an overload
    return Complex(a * b.re, a * b.im)


@sn.kernel
def k(x: sn.array[Complex], y: sn.array[Complex]):
    i = sn.tid()
    z = x[i] * x[i] + 2.0 * y[i]
    z += x[i]
    y[i] += z
    y[i].re = y[i].re + 1.0 * 2.0


@pytest.mark.parametrize("device", ["cpu", "python"])
def test_they_are_calls(device):
    x = np.array([(1, 2), (3, -1)], Complex.numpy_dtype())
    y = np.array([(5, 6), (7, 8)], Complex.numpy_dtype())
    wanted = [complex(*a) ** 2 + 3 * complex(*b) + complex(*a) + 2 for a, b in zip(x.tolist(), y.tolist())]
    sn.launch(k, 2, inputs=[x, y], device=device)
    assert [complex(*one) for one in y.tolist()] == wanted


@pytest.mark.parametrize(
    ("expression", "remedy"),
    [("s - s", "@sn.func def sub(a: S, b: S)"), ("-s", "an @sn.func of"), ("s == s", "of its fields")],
)
def test_what_no_func_says_is_refused(written, expression, remedy):
    made = written(
        "@sn.struct\nclass S:\n    x: float\n\n\n@sn.func\ndef sub(a: float):\n    return a\n\n\n"
        f"@sn.kernel\ndef k(s: S, out: sn.array[S]):\n    t = {expression}\n    out[0] = t\n".replace(
            "def sub", "def other"
        )
    )["k"]
    with pytest.raises(BuildTypeError, match="is not defined for S") as caught:
        lower(made)
    assert remedy in caught.value.remedy


def test_the_func_is_part_of_what_a_kernel_means(written):
    text = (
        "@sn.struct\nclass S:\n    x: float\n\n\n@sn.func\ndef add(a: S, b: S):\n    return S(a.x + {} * b.x)\n\n\n"
        "@sn.kernel\ndef k(s: sn.array[S]):\n    s[0] = s[0] + s[1]\n"
    )
    one, other = (fingerprint(written(text.format(factor))["k"]) for factor in ("1.0", "2.0"))
    assert one.key != other.key
