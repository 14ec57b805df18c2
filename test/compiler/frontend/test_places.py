"""Names, subscripts and attributes."""

import numpy as np
import pytest
from interpreter import Stopped, run

from sim_node.compiler.frontend import lower
from sim_node.errors import BuildAttributeError, BuildNameError, BuildTypeError, UnsupportedError


def args(x=(1.0, 2.0, 3.0), n=0):
    return [
        np.array(x, np.float32), np.zeros(3), np.arange(3, dtype=np.int32),
        np.arange(9, dtype=np.float32).reshape(3, 3), n, 0.5, True,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("¦x[n, 0] = 0.0", BuildTypeError, "'x' has 1 dimension, not 2", "one index"),
        ("x[¦s] = 0.0", BuildTypeError, "an index is an integer, and this is f32", "int(s)"),
        ("x[¦1.0] = 0.0", BuildTypeError, "this is the number 1.0", "int(1.0)"),
        ("x[¦flag] = 0.0", BuildTypeError, "this is bool", "int(flag)"),
        ("x[¦True] = 0.0", BuildTypeError, "this is the number True", "int(True)"),
        ("x[0] = p[0][¦3]", BuildTypeError, "'p[0]' has components 0 to 2, not 3", ""),
        ("x[0] = ¦p[0].w", BuildAttributeError, "vec3f has no 'w'; its components are x, y, z", "sn.length(v)"),
        ("x[0] = ¦p[0].xy", BuildAttributeError, "vec3f has no 'xy'", "sn.length(v)"),
        ("x[0] = ¦x[0].x", BuildAttributeError, "'x[0]' is f32, which has no 'x'", "sn.sqrt(x[0])"),
        ("x[0] = ¦n[0]", BuildTypeError, "'n' is i32, and has no elements", "index an array"),
        ("x[0] = ¦x.shap[0]", BuildAttributeError, "an array of f32, which has no 'shap'", "did you mean x.shape?"),
        ("x[0] = (1, 2)[¦n]", UnsupportedError, "the index into a tuple is a number from 0 to 1", "array parameter"),
        ("¦(p[0] + p[0]).x = 1.0", UnsupportedError, "'(p[0] + p[0]).x' cannot be assigned", "assign to a variable"),
        ("x = ¦d", BuildTypeError, "'x' has its type since line 2: it is array<f32>, not array<f64>", "another name"),
        ("n = ¦x.size", BuildAttributeError, "'x' is an array of f32, which has no 'size'", "len(x)"),
        ("x[0] = ¦sn", BuildTypeError, "sn is a module, and no value at run time", "scalars and vectors"),
        ("y = sn\ny = ¦1", BuildTypeError, "'y' stands for a module since line 3", "another name"),
        ("y = 1\ny = ¦sn", BuildTypeError, "sn is a module, and no value", "scalars and vectors"),
        ("x[0] = ¦1, 2", BuildTypeError, "(1, 2) is a tuple", "take one of its parts"),
        ("y = 1, 2\ny = ¦1, 2, 3", BuildTypeError, "'y' stands for a tuple of 2 since line 3", "another name"),
        ("y = 1, 2\ny = ¦n", BuildTypeError, "'y' stands for a tuple of 2 since line 3, and not for i32", "another"),
        ("y = n\ny = ¦1, 2", BuildTypeError, "'y' has its type since line 3: it is i32, not a tuple of 2", "another"),
        ("y = 1, 2\ny = ¦1.5, 2", BuildTypeError, "1.5 cannot be i32", "convert the other side"),
        ("y = 1, 2\n¦y[0] = 3", UnsupportedError, "'y[0]' cannot be assigned", "to a variable"),
        ("x[0] = ¦a[0]", BuildTypeError, "an element of x[0] is f32, not i32", "sn.float32(a[0])"),
        ("p[0].x = ¦n", BuildTypeError, "an element of p[0].x is f32, not i32", "sn.float32(n)"),
        ("p[0] = ¦s", BuildTypeError, "an element of p[0] is vec3f, not f32", "sn.vec3f(s)"),
        ("x[0] = ¦yy", BuildNameError, "undefined symbol: yy", ""),
        ("x[0] = ¦flagg", BuildNameError, "undefined symbol: flagg", "did you mean flag?"),
        ("x[0] = ¦y\ny = 1.0", BuildNameError, "'y' is read before anything is assigned to it", "above this line"),
    ],
)  # fmt: skip
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("y = 0.0\ny = ¦d[0]", BuildTypeError, "'y' has its type since line 3: it is f32, not f64",
         "in line 3: y = sn.float64(0.0)"),
        ("y = n\ny = ¦s", BuildTypeError, "'y' has its type since line 3: it is i32, not f32",
         "sn.int32(s), or another name"),
        ("y = n\ny = ¦p[0]", BuildTypeError, "it is i32, not vec3f", "another name"),
        ("y = n\ny = ¦1.5", BuildTypeError, "1.5 cannot be i32: it is a float", "convert the other side"),
        ("x = ¦1.0", BuildTypeError, "'x' has its type since line 2: it is array<f32>, not f32", "another name"),
        ("for ¦s in range(n):\n    pass", BuildTypeError, "it is f32, not i32", "another name"),
    ],
)  # fmt: skip
def test_a_variable_keeps_its_type(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("if flag:\n    y = 1.0\nx[0] = ¦y", "when the condition in line 3 is false"),
        ("if flag:\n    pass\nelse:\n    y = 1.0\nx[0] = ¦y", "when the condition in line 3 is true"),
        ("if flag:\n    pass\nelif n > 2:\n    y = 1.0\nelse:\n    y = 2.0\nx[0] = ¦y",
         "when the condition in line 3 is true"),
        ("if flag:\n    y = 1.0\nelif n > 2:\n    pass\nelse:\n    y = 2.0\nx[0] = ¦y",
         "when the condition in line 5 is true"),
        ("for i in range(n):\n    y = 1.0\nx[0] = ¦y", "when the loop in line 3 makes no iteration"),
        ("for i in range(n):\n    pass\na[0] = ¦i", "when the loop in line 3 makes no iteration"),
        ("while flag:\n    y = 1.0\n    flag = s > y\nx[0] = ¦y", "before the first iteration of the loop in line 3"),
        ("while True:\n    if flag:\n        break\n    y = 1.0\nx[0] = ¦y",
         "before the first iteration of the loop in line 3"),
        ("for i in range(300):\n    if i > n:\n        y = 1.0\n    x[i] = ¦y",
         "before the first iteration of the loop in line 3"),
    ],
)  # fmt: skip
def test_maybe_unassigned(refusal, body, path):
    refusal(body, BuildNameError, f"may be unassigned here: nothing is assigned to it {path}", "so that every path")


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(3):\n    y = 1.0\nx[0] = y + float(i)",
        "while True:\n    y = 1.0\n    if flag:\n        break\nx[0] = y",
        "if flag:\n    y = 1.0\nelse:\n    return\nx[0] = y",
        "if n > 0:\n    if flag:\n        y = 1.0\n    else:\n        y = 2.0\n    x[0] = y",
    ],
)
def test_assigned_on_every_path(kernel, body):
    lower(kernel(body))


@pytest.mark.parametrize(("n", "stops"), [(-1, True), (0, False), (2, False), (3, True), (2**31 - 1, True)])
@pytest.mark.parametrize("body", ["x[n] = 5.0", "x[0] = x[n]", "x[n] += 1.0", "p[0][n] = 1.0", "x[0] = p[0][n]"])
def test_bounds(kernel, body, n, stops):
    module = lower(kernel(body))
    if not stops:
        run(module, args(n=n))
        return
    with pytest.raises(Stopped) as stopped:
        run(module, args(n=n))
    assert stopped.value.site.kind == "index"
    assert stopped.value.site.subject in ("x", "p[0]")
    assert (stopped.value.index, stopped.value.length) == (n, 3)
    assert stopped.value.site.location.line == 3


@pytest.mark.parametrize("index", ["sn.int64(n)", "sn.uint32(n)", "sn.uint64(n)"])
def test_indices_of_any_integer_type(kernel, index):
    module = lower(kernel(f"x[{index}] = 5.0"))
    changed = args(n=2)
    run(module, changed)
    assert changed[0][2] == 5.0
    with pytest.raises(Stopped):
        run(module, args(n=-1))


def test_assignment_evaluates_the_value_before_the_target(kernel):
    """As Python does: the division is what fails, though the index would too."""
    with pytest.raises(Stopped) as stopped:
        run(lower(kernel("a[n] = 1 // (n - 7)")), args(n=7))
    assert stopped.value.site.kind == "division"


def test_vectors_are_values(kernel):
    """Assigning a component of a variable changes no other variable and no array."""
    changed = args()
    run(
        lower(
            kernel(
                "v = p[1]\nw = v\nv.y = 9.0\nv[n] += 1.0\nx[0] = w.y\nx[1], x[2], d[0] = v.x, v.y, 0.0\nx[2] += p[1].y"
            )
        ),
        changed,
    )
    assert list(changed[0]) == [4.0, 4.0, 13.0]
