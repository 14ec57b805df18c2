"""Operands of ranges are checked where they stand, in loops and behind ``in``."""

import pytest

from sim_node.errors import BuildTypeError, BuildValueError


@pytest.mark.parametrize("where", ["for i in {}:\n    pass", "flag = n in {}"])
@pytest.mark.parametrize(
    ("operands", "family", "what"),
    [
        ("range(0, n, ¦0)", BuildValueError, "the step of a range is 0"),
        ("¦range(s)", BuildTypeError, "range takes integers, not f32"),
        ("¦range()", BuildTypeError, "range takes 1 to 3 integers"),
        ("¦range(stop=n)", BuildTypeError, "range takes 1 to 3 integers"),
    ],
)
def test_refused(refusal, where, operands, family, what):
    refusal(where.format(operands), family, what, " ")
