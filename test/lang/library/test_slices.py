"""Slices of arrays go through what ``slice.indices`` says."""

import itertools

import numpy as np
import pytest

from sim_node.lang.library import slices

ENDS = (None, -9, -4, -1, 0, 1, 3, 4, 9)


@pytest.mark.parametrize("length", [0, 1, 4, 5])
def test_as_python(length):
    ends = [None if end is None else np.int32(end) for end in ENDS]
    for lower, upper, step in itertools.product(ends, ends, map(np.int32, (-(2**31), -3, -1, 1, 2, 2**31 - 1))):
        start = slices.first(length, step) if lower is None else slices.clamped(lower, length, step)
        stop = slices.last(length, step) if upper is None else slices.clamped(upper, length, step)
        want = range(*slice(lower, upper, step).indices(length))
        assert slices.count(start, stop, step) == len(want)
        if len(want):
            assert start == want.start
            assert slices.nothing_if_empty(start * 4, len(want)) == start * 4
    assert slices.nothing_if_empty(12, 0) == 0
