"""Comparisons; those of scalars are in test_operators.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter import run

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.errors import BuildTypeError, UnsupportedError


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("flag = ¦s is s", UnsupportedError, "'is' compares objects", "use =="),
        ("flag = ¦s is not s", UnsupportedError, "'is not' compares objects", "use !="),
        ("flag = ¦s is None", UnsupportedError, "'is' compares objects", "kernels have no None"),
        (
            "flag = ¦s in x",
            UnsupportedError,
            "'in' looks into a range, a tuple or a vector, and 'x' is an array",
            "loop",
        ),
        ("flag = n in ¦range(3, 9, n)", UnsupportedError, "a range whose step is known", "a constant"),
        ("flag = ¦s in (n, 1)", BuildTypeError, "'==' mixes f32 and i32", "sn.float32(n)"),
        ("flag = ¦True < False", BuildTypeError, "'<' takes numbers, not bools", "int(…)"),
        ("flag = ¦p[0] < p[0]", BuildTypeError, "'<' has no meaning for vectors", "sn.length(v)"),
    ],
)
def test_refused(refusal, body, family, what, remedy):
    refusal(body, family, what, remedy)


@pytest.mark.parametrize("change", [None, 0, 1, 2])
def test_vectors_are_equal_if_all_components_are(kernel, change):
    p = np.ones((2, 3), np.float32)
    if change is not None:
        p[1, change] = 2.0
    a = np.zeros(2, np.int32)
    body = "a[0] = int(p[0] == p[1])\na[1] = int(p[0] != p[1])"
    run(lower(kernel(body)), [np.zeros(1, np.float32), np.zeros(1), a, p, 0, 0.0, True])
    assert list(a) == ([1, 0] if change is None else [0, 1])


@pytest.mark.parametrize("scalar", [sn.int32, sn.uint32, sn.int64], ids=repr)
@pytest.mark.parametrize("step", [1, 3, -1, -4, 1000])
def test_in_a_range_as_python(written, scalar, step):
    low, high = int(np.iinfo(scalar.numpy).min), int(np.iinfo(scalar.numpy).max)
    if step < 0 and low == 0:
        return
    head = "@sn.kernel\ndef k(x: t, start: t, stop: t, found: array(int)):\n"
    module = lower(written(f"{head}    found[0] = int(x in range(start, stop, {step}))\n", t=scalar)["k"])
    near = st.integers(low, min(low + 5, 0)) | st.integers(max(-9, low), 9) | st.integers(high - 5, high)

    @settings(max_examples=80, deadline=None, database=None)
    @given(near, near, near)
    def check(x, start, stop):
        found = np.zeros(1, np.int32)
        run(module, [x, start, stop, found])
        assert found[0] == (x in range(start, stop, step))

    check()


@pytest.mark.parametrize(
    "expression", ["n in (1, 2)", "n not in (1, a[0])", "1 < n in (2, 3)", "3 in (1, 2, 3)", "n in ()", "n in p_i",
                   "2 not in range(3, 9)", "n in (5, n) and n not in (0, 0)"]
)  # fmt: skip
@pytest.mark.parametrize("n", [0, 1, 2])
def test_in_a_tuple_as_python(kernel, expression, n):
    a, vector = np.array([2], np.int32), np.array([2, 0, 1], np.int32)
    wanted = bool(eval(expression, {"n": n, "a": [2], "p_i": (2, 0, 1)}))
    body = f"a[0] = int({expression})"
    run(lower(kernel(body, p_i=vector)), [np.zeros(1, np.float32), np.zeros(1), a, np.zeros((1, 3)), n, 0.0, True])
    assert a[0] == wanted
