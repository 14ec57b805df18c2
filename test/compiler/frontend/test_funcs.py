"""Calls of funcs: overloads, and arguments that exist only at build."""

# ruff: noqa: F811

from typing import Any

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildTypeError


@sn.func
def custom(x: int):
    return x + 1


@sn.func
def custom(x: float):
    return x + 1.5


@sn.func
def custom(x: sn.vec3):
    return x[0]


@sn.func
def custom(x: Any, y: Any):
    return x * y


@sn.func
def custom(x: int, y: int):
    return x - y


@sn.func
def hidden(x: int):
    return x * 2


@sn.func
def hidden(x: int):
    return x * 3


@sn.func
def unclear(x: int, y: Any):
    return 1


@sn.func
def unclear(x: Any, y: int):
    return 2


@sn.func
def apply(f, x, times: int = 1):
    for _ in range(times):
        x = f(x)
    return x


@sn.func
def twice(x):
    return x * type(x)(2)


@sn.func
def half(x):
    return x / type(x)(2)


@sn.func
def converted(x, dtype: Any):
    return dtype(x)


class Holder:
    @staticmethod
    @sn.func
    def thrice(x):
        return x * 3.0


NAMES = {thing.name: thing for thing in (custom, hidden, unclear, apply, twice, half, converted)}
FINE = True


def results(kernel, body, **names):
    d = np.zeros(1)
    run(lower(kernel(body, **NAMES, **names)), [
        np.zeros(1, np.float32), d, np.zeros(1, np.int32), np.full((1, 3), 7, np.float32), 3, np.float32(0.5), True,
    ])  # fmt: skip
    return d[0]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("custom(n)", 4), ("custom(s)", 2.0), ("custom(p[0])", 7.0), ("custom(1)", 2), ("custom(1.0)", 2.5),
        ("custom(s, s)", 0.25), ("custom(n, n)", 0), ("custom(5, 3)", 2), ("custom(2.0, 3.0)", 6.0),
        ("custom(x=n, y=2)", 1), ("hidden(n)", 9), ("apply(twice, s)", 1.0), ("apply(half, s, times=2)", 0.125),
        ("apply(twice if FINE else half, s)", 1.0), ("apply(Holder.thrice, s)", 1.5), ("converted(s, int)", 0),
        ("apply(custom, n, 2)", 5), ("converted(n, sn.float64)", 3.0),
    ],
)  # fmt: skip
def test_values(kernel, expression, wanted):
    assert results(kernel, f"d[0] = sn.float64({expression})", FINE=FINE, Holder=Holder) == wanted


def test_a_variable_may_stand_for_a_func(kernel):
    body = "f = twice\nd[0] = sn.float64(f(s))\nf = half\nfor _ in range(n):\n    d[0] = f(d[0])"
    assert results(kernel, body) == 0.125


@pytest.mark.parametrize(
    ("body", "what", "remedy"),
    [
        ("x[0] = ¦custom(flag)", "no overload of 'custom' takes (bool)", "custom(x: i32); custom(x: f32);"),
        ("x[0] = ¦custom(s, s, s)", "no overload of 'custom' takes (f32, f32, f32)", "custom(x, y)"),
        ("sn.trace(¦s)", "'a' of 'trace' is matrix(shape=(Any, Any), dtype=Any), not f32", ""),
        ("¦sn.determinant(s)", "no overload of 'determinant' takes (f32)", "a: matrix(shape=(2, 2), dtype=Any)"),
        ("a[0] = ¦unclear(n, n)", "more than one overload of 'unclear' takes (i32, i32)", "unclear(x, y: i32)"),
        ("f = twice\nif flag:\n    f = half\nx[0] = ¦f(s)", "what 'f' stands for here depends", "each branch"),
        ("f = twice\nwhile flag:\n    x[0] = ¦f(s)\n    f = half", "what 'f' stands for here depends", "each branch"),
    ],
)  # fmt: skip
def test_refused(refusal, body, what, remedy):
    refusal(body, BuildTypeError, what, remedy, **NAMES)


def test_a_func_is_no_value(refusal):
    refusal("x[0] = ¦twice", BuildTypeError, "twice is a func, and no value at run time", "scalars", **NAMES)
    refusal("x[0] = (¦twice if flag else half)(s)",
            BuildTypeError, "'twice' is a func, not a scalar or vector", "", **NAMES)  # fmt: skip
