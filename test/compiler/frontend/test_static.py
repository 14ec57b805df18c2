"""Expressions that are evaluated at build."""

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildError, BuildTypeError, UnsupportedError

NAMES = ["a", "b"]


@sn.func
def inner(n: int):
    return n + 2


@sn.func
def outer(n: int):
    return sn.static(inner(len(NAMES))) + n


OPS = {"in": inner, "out": outer}


def results(kernel, body, **names):
    a, d = np.zeros(9, np.int32), np.zeros(1)
    run(lower(kernel(body, **names)), [np.zeros(1, np.float32), d, a, np.zeros((1, 3), np.float32), 3, 0.5, True])
    return list(a), d[0]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("a[0] = sn.static(len(NAMES) * 2)", 4),
        ("a[0] = sn.static(outer(5))", 9),
        ("a[0] = outer(n)", 7),
        ("a[0] = sn.static(OPS['in'])(n)", 5),
        ("c = 4\na[0] = sn.static(c + inner(c))", 10),
        ("c = 4\nc = c * 2 + 1\na[0] = sn.static(c)", 9),
        ("t = sn.vec3(1.0, 2.0, 3.0)\na[0] = sn.static(len(t))", 3),
        ("if sn.static(NAMES[0] == 'a'):\n    a[0] = 1\nelse:\n    a[0] = nonsense", 1),
        ("if sn.static(len(NAMES) in {2, 3}):\n    a[0] = 6", 6),
        ("a[0] = sn.static(sum(n for n in [1, 2, 3]))", 6),
        ("for i in range(4):\n    a[0] += sn.static(i * i)", 14),
        ("for i in range(2):\n    for j in range(i, 3):\n        a[0] += sn.static(10 * i + j)", 26),
        ("for i in range(3):\n    j = i * 2\n    a[0] += sn.static(j)", 6),
        ("for i in range(5, 0, -2):\n    a[0] = a[0] * 10 + sn.static(i)", 531),
        ("for i in range(3):\n    a[0] += sn.static(OPS['in'] if i else OPS['out'])(i)", 11),
        ("for f in (inner, outer):\n    a[0] = f(a[0])", 6),
    ],
)
def test_static(kernel, body, wanted):
    assert results(kernel, body, NAMES=NAMES, inner=inner, outer=outer, OPS=OPS)[0][0] == wanted


def test_numbers_keep_their_digits(kernel):
    assert results(kernel, "d[0] = sn.static(1 / 3)")[1] == 1 / 3


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("a[0] = sn.static(¦1 / 0)", BuildError, "division by zero (ZeroDivisionError)", ""),
        (
            "a[0] = sn.static(¦n + 1)",
            BuildError,
            "name 'n' is not defined. Make sure all variables",
            "counters of unrolled loops",
        ),
        ("a[0] = sn.static(¦print())", UnsupportedError, "'print()' gives None", ""),
        ("a[0] = ¦sn.static(np.zeros(9))", UnsupportedError, "an array outside of the kernel", "as a parameter"),
        ("a[0] = ¦sn.static(object())", UnsupportedError, "is of type object", "of its own"),
        ("a[0] = ¦sn.static()", BuildTypeError, "sn.static takes one expression", "sn.static(n + 1)"),
        ("for i in range(n):\n    a[0] = sn.static(¦i)", BuildError, "name 'i' is not defined", "unrolled loops"),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


def test_a_local_hides_what_is_outside(refusal):
    refusal("g = n\na[0] = sn.static(¦g)", BuildError, "name 'g' is not defined", "known at build", g=7)
