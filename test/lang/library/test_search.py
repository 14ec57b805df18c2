"""Searching sorted arrays as Python's bisect, within the array."""

import bisect

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sim_node as sn


@sn.kernel
def find(arr: sn.array[int], begin: int, end: int, values: sn.array[int], out: sn.array[int]):
    i = sn.tid()
    out[2 * i] = sn.lower_bound(arr, values[i])
    out[2 * i + 1] = sn.lower_bound(arr, begin, end, values[i])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=30).map(sorted), st.integers(0, 29), st.integers(1, 30))
def test_lower_bound(numbers, begin, count):
    begin = min(begin, len(numbers) - 1)
    end = min(begin + count, len(numbers))
    values = np.arange(-21, 22, dtype=np.int32)
    out = np.zeros((len(values), 2), np.int32)
    sn.launch(find, len(values), inputs=[np.array(numbers, np.int32), begin, end, values, out.reshape(-1)])
    whole = [min(bisect.bisect_left(numbers, int(value)), len(numbers) - 1) for value in values]
    some = [min(bisect.bisect_left(numbers, int(value), begin, end), end - 1) for value in values]
    np.testing.assert_array_equal(out, np.array([whole, some]).T)
