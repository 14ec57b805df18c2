"""Searching sorted arrays."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import int32
from sim_node.lang.func import func


@func
def lower_bound(arr: Any, arr_begin: int32, arr_end: int32, value: Any) -> int32:
    """Find the first element, of those from arr_begin to before arr_end, that is not less than the value.

    The elements are sorted; the last one where all are less.
    """
    low, high = arr_begin, arr_end - 1
    while low < high:
        middle = low + (high - low) // 2
        if arr[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@func
def lower_bound(arr: Any, value: Any) -> int32:
    """Find the first element of a sorted array that is not less than the value; the last where all are less."""
    return lower_bound(arr, 0, len(arr), value)
