"""Sums, inner products, running sums, sorts and runs of arrays, by launches in a fixed order: what ``sn.utils`` holds.

Elements are summed in parts of a fixed length, each from its first to its last, and so are the sums of the parts, until
one is left. The order depends on the length of the array alone, and so do the bits. A sort is stable: as many digits
as the keys have, from the lowest, each counted in those same parts.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from sim_node.device.names import get_device
from sim_node.device.scope import ScopedDevice
from sim_node.errors import mistakes
from sim_node.lang.library.parts import (
    PART,
    count_digits,
    gather,
    list_heads,
    mark_heads,
    measure_runs,
    multiply_parts,
    number_segments,
    place,
    run_parts,
    sum_parts,
)
from sim_node.runtime.array import Array
from sim_node.runtime.creation import clone, empty, empty_like, zeros
from sim_node.runtime.launch import launch
from sim_node.runtime.maker import array

_Algorithm = TypeVar("_Algorithm", bound=Callable[..., Any])


def _there(algorithm: _Algorithm) -> _Algorithm:
    """Run an algorithm where its first array is."""

    @wraps(algorithm)
    def run(values: Array, *rest: Any, **named: Any) -> Any:
        place = values.device
        with ScopedDevice(place if place.is_cuda or get_device().is_cuda else get_device()):
            return algorithm(values, *rest, **named)

    return cast(_Algorithm, run)


utils = sys.modules[__name__]  # the name that Warp gives to such a module

_DIGIT = 8  # bits


def _parts(count: int) -> int:
    return -(-count // PART)


def _summed(values: Array, count: int) -> Array:
    """Sum the first elements of each row: an array of one column."""
    rows = values.shape[0]
    sums = zeros((rows, 1), values.dtype) if count == 0 else empty((rows, _parts(count)), values.dtype)
    launch(sum_parts, (rows, _parts(count)), [values, count], [sums])
    return sums if sums.shape[1] == 1 else _summed(sums, sums.shape[1])


def _count(name: str, length: int, count: int | None) -> int:
    if count is not None and not 0 <= count <= length:
        raise mistakes.ALGORITHM(f"{name}: {count} elements of an array of {length}")
    return length if count is None else count


def _last(name: str, ndim: int, axis: int | None) -> tuple[int, ...]:
    """The dimensions in an order in which that of the sums is last; of none, which is one row, as they are."""
    if axis is not None and not -ndim <= axis < ndim:
        raise mistakes.ALGORITHM(f"{name}: axis {axis} of an array of {ndim} dimensions")
    return tuple(range(ndim)) if axis is None else (*(k for k in range(ndim) if k != axis % ndim), axis % ndim)


def _rows(shape: tuple[int, ...], order: tuple[int, ...], axis: int | None) -> tuple[int, int]:
    """How many rows there are, and how long they are."""
    *across, along = (shape[k] for k in order)
    return (1, math.prod(shape)) if axis is None else (math.prod(across), along)


def _given(sums: Array, shape: tuple[int, ...], axis: int | None, out: Array | None) -> Any:
    """Sums as an array that has 1 where the axis was; of no axis the number alone; ``out`` if that is given."""
    if out is not None:
        out.assign(sums.numpy().reshape(out.numpy().shape))
        return out
    if axis is None:
        return sums.list()[0]
    return sums.reshape(tuple(1 if k == axis % len(shape) else n for k, n in enumerate(shape)))


@_there
def array_sum(values: Array, out: Array | None = None, value_count: int | None = None, axis: int | None = None) -> Any:
    """Sum an array, or its first ``value_count`` elements: the sum, or the array ``out`` of one element that has it.

    Along an axis it sums each row of it, or the first elements of each: an array, ``out`` if that is given, of the
    same shape with 1 there. Raises LaunchError where the array is shorter or has no such axis.
    """
    order = _last("array_sum", values.ndim, axis)
    count = _count("array_sum", values.size if axis is None else values.shape[axis], value_count)
    rows = values.transpose(order).contiguous().reshape(_rows(values.shape, order, axis))
    return _given(_summed(rows, count), values.shape, axis, out)


@_there
def array_inner(a: Array, b: Array, out: Array | None = None, count: int | None = None, axis: int | None = None) -> Any:
    """Sum the products of the numbers of two arrays, or of their first ``count`` elements, as ``array_sum``.

    Raises LaunchError where the arrays differ in type or shape, are shorter or have no such axis.
    """
    order = _last("array_inner", a.ndim, axis)
    same = a.shape == b.shape if axis is not None else count is not None or a.size == b.size
    if a.dtype != b.dtype or not same:
        raise mistakes.ALGORITHM(f"array_inner: {a.size} elements of {a.dtype!r} and {b.size} of {b.dtype!r}")
    lengths = [each.size if axis is None else each.shape[axis] for each in (a, b)]
    number = min(_count("array_inner", length, count) for length in lengths)
    one, other = (_numbers(each, order, axis, number) for each in (a, b))
    rows, length = one.shape
    sums = zeros((rows, 1), one.dtype) if length == 0 else empty((rows, _parts(length)), one.dtype)
    launch(multiply_parts, (rows, _parts(length)), [one, other, length], [sums])
    return _given(_summed(sums, sums.shape[1]), a.shape, axis, out)


def _numbers(values: Array, order: tuple[int, ...], axis: int | None, count: int) -> Array:
    """Rows of the numbers of the first elements of each."""
    memory = values.numpy()
    memory = memory.transpose(*order, *range(len(order), memory.ndim))
    components = memory.shape[len(order) :]
    rows = memory.reshape(*_rows(values.shape, order, axis), *components)[:, :count]
    flat = np.ascontiguousarray(rows.reshape(len(rows), count * math.prod(components)))
    numbers: Array = array(flat, copy=False)
    return numbers


@_there
def array_scan(in_array: Array, out_array: Array, inclusive: bool = True) -> None:
    """Write running sums, each with its element or, if not inclusive, up to it; both arrays may be one.

    Raises LaunchError where the arrays differ in length or type.
    """
    count = len(in_array)
    if in_array.dtype != out_array.dtype or len(out_array) != count:
        what = f"{count} elements of {in_array.dtype!r} into {len(out_array)} of {out_array.dtype!r}"
        raise mistakes.ALGORITHM(f"array_scan: {what}")
    parts = _parts(count)
    offsets = zeros(max(parts, 1), in_array.dtype)
    if parts > 1:
        sums = empty(parts, in_array.dtype)
        launch(sum_parts, (1, parts), [in_array.contiguous().reshape((1, count)), count], [sums.reshape((1, parts))])
        array_scan(sums, offsets, inclusive=False)
    launch(run_parts, parts, [in_array, offsets, count, inclusive], [out_array])


@_there
def radix_sort_pairs(keys: Array, values: Array, count: int, begin_bit: int = 0, end_bit: int | None = None) -> None:
    """Sort the first ``count`` keys, and values with them; the arrays have as many elements more for work.

    Keys are i32, u32, i64, u64, f32 or f64; only their bits from begin_bit to before end_bit count. It is stable.
    Raises LaunchError where an array is shorter.
    """
    if min(len(keys), len(values)) < 2 * count:
        what = (
            f"{count} pairs need arrays of {2 * count} elements, and there are {len(keys)} keys, {len(values)} values"
        )
        raise mistakes.ALGORITHM(f"radix_sort_pairs: {what}")
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


@_there
def segmented_sort_pairs(
    keys: Array,
    values: Array,
    count: int,
    segment_start_indices: Array,
    segment_end_indices: Array | None = None,
) -> None:
    """Sort the keys of each segment, and values with them; segments do not overlap, and what is in none stays.

    A segment goes from its start to before its end, or without ends to before the next start, where the last start is
    the end alone. Keys are as of ``radix_sort_pairs``; it is stable: all are sorted by key, then by segment.
    Raises LaunchError where an array is shorter, or a segment does not lie in the first ``count`` elements.
    """
    bounds = segment_start_indices.numpy()
    starts, ends = (bounds[:-1], bounds[1:]) if segment_end_indices is None else (bounds, segment_end_indices.numpy())
    if len(starts) != len(ends) or not np.all((starts >= 0) & (starts <= ends) & (ends <= count)):
        raise mistakes.ALGORITHM(f"segmented_sort_pairs: segments are parts of the first {count} elements")
    if min(len(keys), len(values)) < count:
        raise mistakes.ALGORITHM(f"segmented_sort_pairs: {count} pairs of {len(keys)} keys, {len(values)} values")
    numbers, order = (array(np.arange(2 * count, dtype=np.int32), copy=False) for _ in range(2))
    launch(number_segments, len(starts), [array(starts), array(ends)], [numbers])
    by_key, by_segment = empty(2 * count, keys.dtype), empty(2 * count, int)
    by_key[:count].assign(keys[:count])
    radix_sort_pairs(by_key, order, count)
    launch(gather, count, [numbers, order], [by_segment])
    radix_sort_pairs(by_segment, order, count)
    for given in (keys, values):
        launch(gather, count, [clone(given[:count]), order], [given])


@_there
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
    count = _count("runlength_encode", values.size, value_count)
    heads = empty(count, int)
    numbers, starts = empty_like(heads), empty_like(heads)
    launch(mark_heads, count, [values], [heads])
    array_scan(heads, numbers)
    launch(list_heads, count, [values, numbers], [run_values, starts])
    runs = int(numbers[-1]) if count else 0
    launch(measure_runs, runs, [starts, count, runs], [run_lengths])
    if run_count is None:
        return runs
    run_count.fill_(runs)
    return run_count
