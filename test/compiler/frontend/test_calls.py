"""Calls of funcs, builtins, types and Python's own functions."""

import numpy as np
import pytest
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildTypeError, UnsupportedError


@sn.func
def scaled(x: float, factor=2.0):
    return x * factor


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("x[0] = ¦sn.sqrt(n)", BuildTypeError, "sn.sqrt does not take i32", "sn.sqrt(float(n))"),
        ("x[0] = ¦sn.sqrt(s, s)", BuildTypeError, "sn.sqrt takes 1 argument, not 2", ""),
        ("x[0] = ¦sn.min(s)", BuildTypeError, "sn.min takes 2 or more arguments, not 1", ""),
        ("x[0] = ¦sn.min(s, n)", BuildTypeError, "sn.min mixes f32 and i32", "sn.float32(n)"),
        ("p[0] = ¦sn.floor(p[0])", BuildTypeError, "sn.floor does not take vec3f", "apply it to scalars"),
        ("x[0] = ¦sn.tid(1)", BuildTypeError, "sn.tid takes 0 arguments, not 1", ""),
        ("x[0] = ¦sn.tid", BuildTypeError, "sn.tid is a builtin, and no value", "scalars and vectors"),
        ("x[0] = sn.sqrt(¦x=s)", UnsupportedError, "by name to funcs only", "in its place"),
        (
            "x[0] = scaled(¦*s)",
            BuildTypeError,
            "only supported for tuples, vectors and slices of arrays, and 's' is f32",
            "in its place",
        ),
        (
            "x[0] = scaled(¦*x)",
            BuildTypeError,
            "only supported for tuples, vectors and slices of arrays, and 'x' is an array",
            "place",
        ),
        ("x[0] = scaled(s, ¦**p)", UnsupportedError, "one by one", "in its place"),
        ("x[0] = ¦scaled()", BuildTypeError, "'scaled': missing a required argument: 'x'", "it is scaled(x, factor)"),
        ("x[0] = ¦scaled(s, scale=1.0)", BuildTypeError, "unexpected keyword argument 'scale'", "scaled(x, factor)"),
        ("x[0] = scaled(¦n)", BuildTypeError, "'x' of 'scaled' is f32, not i32", "sn.float32(n)"),
        ("x[0] = scaled(¦x)", BuildTypeError, "'x' of 'scaled' is f32, not array<f32>", "index the array: x[i]"),
        ("p[0] = ¦sn.vec3(1.0, 2.0)", BuildTypeError, "vec3f takes 0, 1 or 3 components, not 2", "sn.vec3f(s)"),
        ("p[0] = sn.vec3(1.0, 2.0, ¦n)", BuildTypeError, "its components, which is f32, not i32", "sn.float32(n)"),
        (
            "p[0] = ¦sn.vec3(sn.vec2(1.0))",
            BuildTypeError,
            "vec3f takes 0, 1 or 3 components, not 1 (vec2f)",
            "sn.vec3f(s)",
        ),
        ("p[0] = ¦sn.vector(s, n, s)", BuildTypeError, "sn.vector mixes f32 and i32", "sn.float32(n)"),
        ("x[0] = ¦float(p[0])", BuildTypeError, "f32 is made from a scalar, not from vec3f", "a component"),
        ("x[0] = ¦float(s, s)", BuildTypeError, "f32 takes 0 to 1 arguments, not 2", ""),
        ("a[0] = sn.uint32(¦-1)", BuildTypeError, "-1 cannot be u32", "wider type"),
        ("x[0] = ¦sn.cast(s, sn.uint64)", BuildTypeError, "sn.cast keeps the bits", "same width"),
        ("x[0] = ¦sn.cast(s, 3)", BuildTypeError, "cannot turn f32 into 3", "same width"),
        ("x[0] = ¦min(s)", BuildTypeError, "min takes 2 or more arguments, not 1", ""),
        ("flag = ¦max(flag, flag)", BuildTypeError, "'max' does not take bool", ""),
        ("x[0] = ¦len(n)", BuildTypeError, "'n' is i32, which has no len", ""),
        ("x[0] = ¦range(3)", UnsupportedError, "'range' is a type, which a kernel cannot call here", "for i in range"),
        ("x[0] = ¦s(3)", UnsupportedError, "'s' is f32, which a kernel cannot call here", "@sn.func"),
        ("x[0] = ¦input(n)", UnsupportedError, "'input' is Python code", "mark it @sn.func"),
        ("x[0] = ¦round(s)", UnsupportedError, "'round' is Python code", "sn.rint"),
        ("x[0] = ¦np.sqrt(s)", UnsupportedError, "'np.sqrt' is Python code", "sn.sqrt"),
        ("x[0] = ¦np.sin(s)", UnsupportedError, "'np.sin' is Python code", "sn.sin"),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy, scaled=scaled)


def results(kernel, body, **names):
    x, d, a = np.zeros(4, np.float32), np.zeros(4), np.zeros(4, np.int32)
    p = np.arange(6, dtype=np.float32).reshape(2, 3)
    run(lower(kernel(body, **names)), [x, d, a, p, 3, 0.5, True])
    return x, d, a, p


def test_literals_take_the_type_of_other_arguments(kernel):
    x, d, a, p = results(
        kernel,
        "d[0] = sn.clamp(d[0] + 1.0, 0.1, 0.3)\nx[0] = sn.clamp(s, 0, 1)\na[0] = sn.clamp(n, 0, 2)\n"
        "p[0] = sn.lerp(p[0], p[1], 0.5)",
    )
    assert (d[0], x[0], a[0]) == (0.3, 0.5, 2)
    assert list(p[0]) == [1.5, 2.5, 3.5]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("int(2.9)", 2), ("int(-2.9)", -2), ("int(s * 7.0)", 3), ("int(flag)", 1), ("int(s * 1e20)", 2**31 - 1),
        ("int(-s * 1e20)", -(2**31)), ("int(bool(s))", 1), ("int(bool(0.0))", 0),
        ("int(sn.int64(5_000_000_000))", 705032704), ("int(sn.uint32(-s))", 0), ("int()", 0),
        ("int(bool((s - s) / (s - s)))", 1), ("int((s - s) / (s - s))", 0), ("len(p[0]) + len(x) + x.shape[0]", 11),
        ("len((1, 2))", 2), ("type(n)(2.5)", 2), ("min(n, 2, 5)", 2), ("max(n, 2, 5)", 5), ("abs(-n)", 3),
    ],
)  # fmt: skip
def test_values(kernel, expression, wanted):
    assert results(kernel, f"a[0] = {expression}")[2][0] == wanted


def test_parts_are_arguments(kernel):
    body = (
        "v = sn.vec3(1.0, 2.0, 3.0)\nt = 2, n\nx[0] = sn.max(*v)\nx[1] = scaled(*(v[1], 4.0))"
        "\np[0] = sn.vec3(*v)\na[0] = sn.min(*t, 7)\na[1], a[2] = *t,"
    )
    x, _, a, p = results(kernel, body, scaled=scaled)
    assert (list(x[:2]), list(a[:3]), list(p[0])) == ([3.0, 8.0], [2, 2, 3], [1.0, 2.0, 3.0])


def test_the_dtype_of_an_array(kernel):
    assert results(kernel, "d[0] = d.dtype(2)\nx[0] = x.dtype(n) * 0.5")[0][0] == 1.5


def test_names_are_shadowed_as_in_python(kernel):
    assert results(kernel, "a[0] = min(4, n)", min=sn.max)[2][0] == 4
