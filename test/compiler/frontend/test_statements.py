"""Assignments, return, assert, if."""

import numpy as np
import pytest
from interpreter import Stopped, run

from sim_node.compiler.frontend import lower
from sim_node.errors import BuildAttributeError, BuildTypeError, UnsupportedError


def results(kernel, body, n=3):
    x, a = np.array([1.0, 2.0, 3.0], np.float32), np.arange(3, dtype=np.int32)
    run(lower(kernel(body)), [x, np.zeros(3), a, np.zeros((2, 3), np.float32), n, 0.5, True])
    return list(x), list(a)


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("x[0], y = ¦1.0", BuildTypeError, "'1.0' is the number 1.0, which cannot be unpacked", "a tuple or a vector"),
        ("¦x[0], y = 1.0, 2.0, 3.0", BuildTypeError, "3 values for 2 targets", ""),
        ("¦y, z = p[0]", BuildTypeError, "3 values for 2 targets", ""),
        ("¦y: float", UnsupportedError, "an annotation alone assigns nothing", "x: float = 0.0"),
        ("¦x[0]: float = 1.0", UnsupportedError, "only variables are annotated", "x: float"),
        ("y: float = ¦n", BuildTypeError, "'y' is f32, not i32", "sn.float32(n)"),
        ("y: float = ¦p[0]", BuildTypeError, "'y' is f32, not vec3f", "sn.length(p[0])"),
        ("¦n == 1", UnsupportedError, "'n == 1' is computed and not used", "assign it"),
        ("¦x", UnsupportedError, "'x' is computed and not used", "assign it"),
        ("¦return 1.0", BuildTypeError, "a kernel returns nothing", "into an array"),
        ("assert n > 0, ¦n", UnsupportedError, "the message of an assert is plain text", '"…"'),
        ("x[0] = ¦'text'", UnsupportedError, "text is no value in a kernel", "numbers"),
        ("x[0] = ¦None", UnsupportedError, "None is no value in a kernel", "numbers"),
        ("x[0] = ¦1j", UnsupportedError, "a complex number is no value", "numbers"),
        ("x[0] = ¦...", UnsupportedError, "... is no value", "numbers"),
        (
            "x[0] = (1, ¦*s)[0]",
            BuildTypeError,
            "only supported for tuples, vectors and slices of arrays, and 's' is f32",
            "each value",
        ),
        ("¦n if flag else s", UnsupportedError, "'n' is computed", "assign"),
        ("¦sn.pie = 3", BuildAttributeError, "`pie` is not an attribute of module 'sim_node'", "did you mean sn.pi?"),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


@pytest.mark.parametrize(("body", "message"), [("assert n < 3", "n < 3"), ("assert n < 3, 'too many'", "too many")])
def test_assert(kernel, body, message):
    module = lower(kernel(body))
    with pytest.raises(Stopped) as stopped:
        run(module, [np.zeros(1, np.float32), np.zeros(1), np.zeros(1, np.int32), np.zeros((1, 3)), 3, 0.0, True])
    site = stopped.value.site
    assert (site.kind, site.subject, site.location.line) == ("assert i32 <", message, 3)
    assert (stopped.value.index, stopped.value.length) == (3, 3)
    assert not lower(kernel("assert True")).entry.sites


@pytest.mark.parametrize(
    ("body", "x", "a"),
    [
        ("x[0], x[1] = x[1], x[0]", [2.0, 1.0, 3.0], [0, 1, 2]),
        ("(a[0], a[1]), a[2] = (7, 8), 9", [1.0, 2.0, 3.0], [7, 8, 9]),
        ("a[0] = a[1] = y = 5\na[2] += y", [1.0, 2.0, 3.0], [5, 5, 7]),
        ("'''docstring'''\npass\nreturn None", [1.0, 2.0, 3.0], [0, 1, 2]),
        ("a[a[1]] += 5", [1.0, 2.0, 3.0], [0, 6, 2]),
        ("y: int = 2\ny: int = y + 1\na[0] = y", [1.0, 2.0, 3.0], [3, 1, 2]),
        ("i = 0\na[i], i = 4, 1\na[i] = 5", [1.0, 2.0, 3.0], [4, 5, 2]),
        ("i = 0\ni, a[i] = 2, 6", [1.0, 2.0, 3.0], [0, 1, 6]),
    ],
)
def test_assignments(kernel, body, x, a):
    assert results(kernel, body) == (x, a)


def test_a_known_condition_leaves_one_side(kernel):
    """The other side is not looked at: that is how code is chosen at build."""
    assert results(kernel, "if 1 > 2:\n    a[0] = nonsense\nelse:\n    a[0] = 8")[1][0] == 8


@pytest.mark.parametrize(("n", "wanted"), [(3, [10, 0]), (2, [0, 1])])
def test_a_condition_chooses_a_call_for_what_it_does(kernel, written, n, wanted):
    names = written("@sn.func\ndef put(a: array(int), i: int, x: int):\n    a[i] = x\n")
    body = "a[0] = 0\na[1] = 0\nput(a, 0, 10) if n > 2 else put(a, 1, 1)"
    a = np.zeros(3, np.int32)
    run(lower(kernel(body, put=names["put"])), [
        np.zeros(1, np.float32), np.zeros(1), a, np.zeros((2, 3), np.float32), n, 0.5, True,
    ])  # fmt: skip
    assert list(a[:2]) == wanted
