"""The numbers that say how far apart two states are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node.layout import Layout
from sim_node.replay.report import Report, first_difference


def state(**values):
    layout = Layout.of([("n", dtypes.int32, (2,), ""), ("x", dtypes.float32, (2,), ""), ("d", dtypes.float64, (), "")])
    memory = bytearray(layout.size)
    for name, value in values.items():
        layout[name].view(memory)[...] = value
    return layout, bytes(memory)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(1, 100))
def test_ulp_counts_the_steps_from_one_float_to_the_next(value, steps):
    other = np.float32(value)
    for _ in range(steps):
        other = np.nextafter(other, np.float32(-np.inf if value > 0 else np.inf))
    layout, left = state(x=[0, value])
    _, right = state(x=[0, other])
    _, index, recorded, computed, ulp = first_difference(layout, left, right)
    assert (index, recorded, computed, ulp) == ([1], value, float(other), steps)


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ({"n": [1, 2]}, {"n": [1, 3]}, ("n", [1], 2, 3, None)),
        ({"x": [1, 0.0]}, {"x": [1, -0.0]}, ("x", [1], 0.0, -0.0, 0)),
        ({"d": 1.0}, {"d": np.nextafter(1.0, 2)}, ("d", [], 1.0, float(np.nextafter(1.0, 2)), 1)),
        ({"x": [-1, 0], "d": 1}, {"x": [1, 0], "d": 2}, ("x", [0], -1.0, 1.0, 2 * 0x3F800000)),
    ],
)
def test_the_first_element_of_differing_bits_is_named(left, right, found):
    layout, recorded = state(**left)
    _, computed = state(**right)
    assert first_difference(layout, recorded, computed) == found


def test_the_field_already_known_to_differ_comes_first():
    layout, recorded = state(n=1, x=1, d=1)
    _, computed = state(n=2, x=2, d=2)
    assert first_difference(layout, recorded, computed, "d")[0] == "d"
    assert first_difference(layout, recorded, recorded) is None


def test_skips_that_continue_one_another_are_joined():
    report = Report("bag", "cpu")
    for first, last, reason in ((1, 5, "a"), (6, 9, "a"), (10, 11, "b"), (20, 21, "b")):
        report.skip("/p", 1, first, last, reason)
    assert [(skip.first, skip.last) for skip in report.skips] == [(1, 9), (10, 11), (20, 21)]
    assert report.skipped == 13
