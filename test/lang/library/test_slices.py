"""Slices of arrays go through what ``slice.indices`` says."""

import itertools

import pytest

from sim_node.lang.library import slices

ENDS = (None, -9, -4, -1, 0, 1, 3, 4, 9)


@pytest.mark.parametrize("length", [0, 1, 4, 5])
def test_as_python(length):
    for lower, upper, step in itertools.product(ENDS, ENDS, (-3, -1, 1, 2)):
        start = slices.first(length, step) if lower is None else slices.clamped(lower, length, step)
        stop = slices.last(length, step) if upper is None else slices.clamped(upper, length, step)
        want = range(*slice(lower, upper, step).indices(length))
        assert slices.count(start, stop, step) == len(want)
        if len(want):
            assert start == want.start
            assert slices.nothing_if_empty(start * 4, len(want)) == start * 4
    assert slices.nothing_if_empty(12, 0) == 0
