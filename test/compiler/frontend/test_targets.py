"""Targets of assignments, wherever they stand."""

import pytest

from sim_node.errors import BuildTypeError


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("x[0], y = ¦1.0", "'1.0' is the number 1.0, which cannot be unpacked"),
        ("for y, z in ¦(1, 2):\n    pass", "which cannot be unpacked"),
        ("y, z = ¦x", "'x' is an array of f32, which cannot be unpacked"),
    ],
)
def test_refused(refusal, body, what):
    refusal(body, BuildTypeError, what, "a tuple or a vector")
