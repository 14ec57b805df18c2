"""Sums, inner products, running sums, sorts and runs of arrays, by launches in a fixed order: what ``sn.utils`` holds.

Elements are summed in parts of a fixed length, each from its first to its last, and so are the sums of the parts, until
one is left. The order depends on the length of the array alone, and so do the bits. A sort is stable: as many digits
as the keys have, from the lowest, each counted in those same parts.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from sim_node.errors import LaunchError
from sim_node.lang.library.parts import (
    PART,
    count_digits,
    list_heads,
    mark_heads,
    measure_runs,
    multiply_parts,
    place,
    run_parts,
    sum_parts,
)
from sim_node.runtime.array import Array
from sim_node.runtime.creation import empty, empty_like, zeros
from sim_node.runtime.launch import launch
from sim_node.runtime.maker import array

utils = sys.modules[__name__]  # the name that Warp gives to such a module

_DIGIT = 8  # bits


def _parts(count: int) -> int:
    return -(-count // PART)


def _summed(sums: Array) -> Array:
    """Sum an array down to one element."""
    while len(sums) > 1:
        values, sums = sums, empty(_parts(len(sums)), sums.dtype)
        launch(sum_parts, len(sums), [values, len(values)], [sums])
    return sums


def _count(name: str, values: Array, count: int | None) -> int:
    if count is not None and not 0 <= count <= values.size:
        raise LaunchError(f"{name}: {count} elements of an array of {values.size}")
    return values.size if count is None else count


def _given(total: Any, out: Array | None) -> Any:
    if out is None:
        return total.list()[0]
    out.assign(total.numpy().reshape(out.numpy().shape))
    return out


def array_sum(values: Array, out: Array | None = None, value_count: int | None = None) -> Any:
    """Sum an array, or its first ``value_count`` elements: the sum, or the array ``out`` of one element that has it.

    Raises LaunchError where the array is shorter.
    """
    count = _count("array_sum", values, value_count)
    flat = values.contiguous().flatten()
    sums = zeros(1, values.dtype) if count == 0 else empty(_parts(count), values.dtype)
    launch(sum_parts, _parts(count), [flat, count], [sums])
    return _given(_summed(sums), out)


def array_inner(a: Array, b: Array, out: Array | None = None, count: int | None = None) -> Any:
    """Sum the products of the numbers of two arrays, or of their first ``count`` elements, as ``array_sum``.

    Raises LaunchError where the arrays differ in type or are shorter.
    """
    if a.dtype != b.dtype or (count is None and a.size != b.size):
        raise LaunchError(f"array_inner: {a.size} elements of {a.dtype!r} and {b.size} of {b.dtype!r}")
    number = min(_count("array_inner", a, count), _count("array_inner", b, count))
    one, other = (
        array(np.ascontiguousarray(each.contiguous().flatten().numpy()[:number]).reshape(-1)) for each in (a, b)
    )
    sums = zeros(1, one.dtype) if number == 0 else empty(_parts(one.size), one.dtype)
    launch(multiply_parts, _parts(one.size), [one, other, one.size], [sums])
    return _given(_summed(sums), out)


def array_scan(in_array: Array, out_array: Array, inclusive: bool = True) -> None:
    """Write running sums, each with its element or, if not inclusive, up to it; both arrays may be one.

    Raises LaunchError where the arrays differ in length or type.
    """
    count = len(in_array)
    if in_array.dtype != out_array.dtype or len(out_array) != count:
        what = f"{count} elements of {in_array.dtype!r} into {len(out_array)} of {out_array.dtype!r}"
        raise LaunchError(f"array_scan: {what}")
    parts = _parts(count)
    offsets = zeros(max(parts, 1), in_array.dtype)
    if parts > 1:
        sums = empty(parts, in_array.dtype)
        launch(sum_parts, parts, [in_array, count], [sums])
        array_scan(sums, offsets, inclusive=False)
    launch(run_parts, parts, [in_array, offsets, count, inclusive], [out_array])


def radix_sort_pairs(keys: Array, values: Array, count: int, begin_bit: int = 0, end_bit: int | None = None) -> None:
    """Sort the first ``count`` keys, and values with them; the arrays have as many elements more for work.

    Keys are i32, u32, i64, u64, f32 or f64; only their bits from begin_bit to before end_bit count. It is stable.
    Raises LaunchError where an array is shorter.
    """
    if min(len(keys), len(values)) < 2 * count:
        what = (
            f"{count} pairs need arrays of {2 * count} elements, and there are {len(keys)} keys, {len(values)} values"
        )
        raise LaunchError(f"radix_sort_pairs: {what}")
    end = keys.dtype.bits if end_bit is None else end_bit
    parts = _parts(count)
    here, there = (keys[:count], values[:count]), (keys[count : 2 * count], values[count : 2 * count])
    for shift in range(begin_bit, end, _DIGIT):
        mask = (1 << min(_DIGIT, end - shift)) - 1
        counts, starts = zeros((mask + 1) * parts, int), empty((mask + 1) * parts, int)
        launch(count_digits, parts, [here[0], count, shift, mask, parts], [counts])
        array_scan(counts, starts, inclusive=False)
        launch(place, parts, [*here, count, shift, mask, parts], [starts, *there])
        here, there = there, here
    if -(-(end - begin_bit) // _DIGIT) % 2:
        for moved, home in zip(here, there, strict=True):
            home.assign(moved)


def runlength_encode(
    values: Array,
    run_values: Array,
    run_lengths: Array,
    run_count: Array | None = None,
    value_count: int | None = None,
) -> Any:
    """Write the value and the length of each run of equal elements; gives how many, in ``run_count`` if that is given.

    Raises LaunchError where the array of values is shorter than ``value_count``.
    """
    count = _count("runlength_encode", values, value_count)
    heads = empty(count, int)
    numbers, starts = empty_like(heads), empty_like(heads)
    launch(mark_heads, count, [values], [heads])
    array_scan(heads, numbers)
    launch(list_heads, count, [values, numbers], [run_values, starts])
    runs = int(numbers.numpy()[-1]) if count else 0
    launch(measure_runs, runs, [starts, count, runs], [run_lengths])
    if run_count is None:
        return runs
    run_count.fill_(runs)
    return run_count
