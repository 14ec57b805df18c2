"""Funcs with several results."""

from typing import Any

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.inline import inline
from sim_node.errors import BuildError, BuildTypeError


@sn.func
def both(a: float, b: float):
    return a + b, a - b


@sn.func
def nested(n: int, s: float) -> tuple[int, tuple[float, sn.float64]]:
    if n > 2:
        return 1, (s, 0.1)
    return n, (0.5, sn.float64(s))


@sn.func
def through(n: int):
    t = nested(n, 2.0)
    x, y = t[1]
    return x, sn.float32(y), t[0]


@sn.func
def single(n: int):
    return (n,)


@sn.func
def total(values: Any):
    sum = type(values[0])(0)
    for value in values:
        sum += value
    for i in range(len(values)):
        sum += values[i] * type(values[0])(10)
    return sum


@sn.func
def typed(values: tuple[float, tuple[int, ...]]) -> float:
    return values[0] * float(len(values[1]) + values[1][1])


@sn.func
def swapped(pair: tuple[Any, Any]):
    return pair[1], pair[0]


NAMES = {func.name: func for func in (both, nested, through, single, total, typed, swapped)}


def results(kernel, body):
    made = []
    module = verify(lower(kernel(body, **NAMES)))
    for one in (module, verify(inline(module))):
        x, a = np.array([3.0, 5.0, 0.0], np.float32), np.zeros(3, np.int32)
        run(one, [x, np.zeros(1), a, np.zeros((1, 3), np.float32), 3, np.float32(0.5), True])
        made.append((list(x), list(a)))
    assert made[0] == made[1]
    return made[0]


@pytest.mark.parametrize(
    ("body", "x", "a"),
    [
        ("x[0], x[1] = both(x[0], x[1])", [8, -2, 0], [0, 0, 0]),
        ("t = both(x[0], x[1])\nx[0] = t[1]\na[0] = len(t)", [-2, 5, 0], [2, 0, 0]),
        ("x[0] = both(x[0], 1.0)[0]", [4, 5, 0], [0, 0, 0]),
        ("a[0], (x[0], y) = nested(n, s)", [0.5, 5, 0], [1, 0, 0]),
        ("x[0], x[1], a[0] = through(1)", [0.5, 2, 0], [1, 0, 0]),
        ("(a[0],) = single(n)\na[1] = single(4)[0]", [3, 5, 0], [3, 4, 0]),
        ("a[0] = total((1, 2, n))\nx[0] = total((s, 1.5))", [22, 5, 0], [66, 0, 0]),
        ("t = 2.0, (1, 2, n)\nx[0] = typed(t)\nx[1] = typed((s, (n, n)))", [10, 2.5, 0], [0, 0, 0]),
        ("a[0], x[0] = swapped((s, n))", [0.5, 5, 0], [3, 0, 0]),
        ("t = n, s\nu = t\nt = 7, 8.0\na[0], x[0] = u", [0.5, 5, 0], [3, 0, 0]),
        ("t = 0, 1\nfor _ in range(5):\n    t = t[1], t[0] + t[1]\na[0], a[1] = t", [3, 5, 0], [5, 8, 0]),
        ("t = 1, 2\nif n in t:\n    a[0] = 1\nelse:\n    t = t[1], n\na[1], a[2] = t", [3, 5, 0], [0, 2, 3]),
        ("t = both, total\nx[0] = t[0](x[0], x[1])[0]\na[0] = t[1]((1, 2))", [8, 5, 0], [33, 0, 0]),
    ],
)
def test_tuples(kernel, body, x, a):
    assert results(kernel, body) == (x, a)


@sn.func
def uneven(n: int):
    if n > 2:
        return 1, 2
    return 1, 2, 3


@sn.func
def sometimes_one(n: int):
    if n > 2:
        return 1, 2
    return n


@sn.func
def mixed(n: int):
    if n > 2:
        return 1.5, n
    return n, 2


@sn.func
def liar(n: int) -> tuple[int, int, int]:
    return n, n


@pytest.mark.parametrize(
    ("func", "family", "what"),
    [
        (uneven, BuildTypeError, "'uneven' returns 2 values, and 3 values here"),
        (sometimes_one, BuildTypeError, "'sometimes_one' returns 2 values, and one value here"),
        (mixed, BuildTypeError, "1.5 cannot be i32"),
        (liar, BuildTypeError, "'liar' says it returns 3 values, and 2 here"),
    ],
)
def test_refused(kernel, func, family, what):
    with pytest.raises(BuildError) as caught:
        lower(kernel("t = f(n)", f=func))
    assert type(caught.value) is family
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("x[0] = ¦both(s, s)", "both(s, s) is a tuple"),
        ("¦y, z, w = both(s, s)", "2 values for 3 targets"),
        ("x[0] = typed(¦(s, s))", "'values' of 'typed' is a tuple"),
        ("x[0] = typed(¦(s, (n, n), s))", "is a tuple of 2, and 3 are given"),
        ("t = n, s\nx[0] = t[¦n]", "the index into a tuple is a number from 0 to 1"),
    ],
)
def test_refused_uses(kernel, body, what):
    with pytest.raises(BuildError) as caught:
        lower(kernel(body.replace("¦", ""), **NAMES))
    assert what in caught.value.what


def test_a_func_that_returns_a_func(written):
    text = "@sn.func\ndef one(x: float):\n    return x\n\n@sn.func\ndef other(x: float):\n    return one\n\n"
    with pytest.raises(BuildTypeError, match="a func cannot return a func"):
        lower(written(text + "@sn.kernel\ndef k(x: float):\n    f = other(x)\n")["k"])
