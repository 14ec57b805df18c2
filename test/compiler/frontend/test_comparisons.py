"""Comparisons; those of scalars are in test_operators.py."""

import numpy as np
import pytest
from interpreter import run

from sim_node.compiler.frontend import lower
from sim_node.errors import BuildTypeError, UnsupportedError


@pytest.mark.parametrize(
    ("body", "family", "what", "remedy"),
    [
        ("flag = ¦s is s", UnsupportedError, "'is' compares objects", "use =="),
        ("flag = ¦s is not s", UnsupportedError, "'is not' compares objects", "use !="),
        ("flag = ¦s in x", UnsupportedError, "'in' needs a container", "x == a or x == b"),
        ("flag = ¦s not in x", UnsupportedError, "'not in' needs a container", "x != a and x != b"),
        ("flag = ¦flag < flag", BuildTypeError, "'<' does not take bool", "int(flag)"),
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
