"""What a slice of an array goes through, as Python has it (``slice.indices``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import int32
from sim_node.lang.builtins import max_, min_
from sim_node.lang.func import func

_MOST = 0x7FFF_FFFF  # elements along a dimension; beyond it all bounds and steps mean the same


@func
def narrow_signed(bound: Any) -> int32:
    """Bring a bound or a step of 64 bits into 32, where it means what it did."""
    return int32(min_(max_(bound, -_MOST), _MOST))


@func
def narrow_unsigned(bound: Any) -> int32:
    """Bring one that is never negative there."""
    return int32(min_(bound, _MOST))


@func
def clamped(bound: Any, length: Any, step: Any) -> Any:
    """Bring a bound into the array: a negative one counts from the end, and none lies beyond an end."""
    low = -1 if step < 0 else 0
    from_start = bound + length if bound < 0 else bound
    return min_(max_(from_start, low), length + low)


@func
def first(length: Any, step: Any) -> Any:
    """Where a slice without a beginning begins."""
    return length - 1 if step < 0 else 0 * length


@func
def last(length: Any, step: Any) -> Any:
    """Where a slice without an end ends."""
    return 0 * length - 1 if step < 0 else length


@func
def count(start: Any, stop: Any, step: Any) -> Any:
    """How many steps lead from the start to before the stop; the step is not 0.

    Without a branch: so equal slices are seen to be equal.
    """
    ahead = start - stop if step < 0 else stop - start
    stride = -max_(step, -_MOST) if step < 0 else step
    return max_((ahead - 1) // stride + 1, 0)


@func
def nothing_if_empty(moved: Any, steps: Any) -> Any:
    """The way to the first element, or nothing where there is none."""
    return moved if steps > 0 else moved - moved
