"""Kernels whose threads work on one part of an array each, from its first element to its last."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import ArrayType, bool_, int32, uint64
from sim_node.lang.builtins import min_, tid
from sim_node.lang.kernel import kernel
from sim_node.lang.library.keys import digit

PART = 1024  # elements

_ANY, _INTEGERS = ArrayType(Any), ArrayType(int32)
_ROWS = ArrayType(Any, 2)


@kernel
def sum_parts(values: _ROWS, count: int32, sums: _ROWS) -> None:
    """Sum each part of each row."""
    row, i = tid()
    first = i * PART
    total = values[row, first]
    for k in range(first + 1, min_(first + PART, count)):
        total += values[row, k]
    sums[row, i] = total


@kernel
def multiply_parts(a: _ROWS, b: _ROWS, count: int32, sums: _ROWS) -> None:
    """Sum the products of each part of each row."""
    row, i = tid()
    first = i * PART
    total = a[row, first] * b[row, first]
    for k in range(first + 1, min_(first + PART, count)):
        total += a[row, k] * b[row, k]
    sums[row, i] = total


@kernel
def run_parts(values: _ANY, offsets: _ANY, count: int32, inclusive: bool_, sums: _ANY) -> None:
    """Sum from the offset of each part on, with each element or up to it."""
    i = tid()
    total = offsets[i]
    for k in range(i * PART, min_(i * PART + PART, count)):
        before = total
        total += values[k]
        sums[k] = total if inclusive else before


@kernel
def count_digits(keys: _ANY, count: int32, shift: int32, mask: uint64, parts: int32, counts: _INTEGERS) -> None:
    """Count the keys of each part by digit; the counts of one digit stand together."""
    i = tid()
    for k in range(i * PART, min_(i * PART + PART, count)):
        counts[digit(keys[k], shift, mask) * parts + i] += 1


@kernel
def place(
    keys: _ANY, values: _ANY, count: int32, shift: int32, mask: uint64, parts: int32,
    starts: _INTEGERS, sorted_keys: _ANY, sorted_values: _ANY,
) -> None:  # fmt: skip
    """Move pairs to where those with their digit start."""
    i = tid()
    for k in range(i * PART, min_(i * PART + PART, count)):
        slot = digit(keys[k], shift, mask) * parts + i
        at = starts[slot]
        starts[slot] = at + 1
        sorted_keys[at] = keys[k]
        sorted_values[at] = values[k]


@kernel
def number_segments(starts: _INTEGERS, ends: _INTEGERS, numbers: _INTEGERS) -> None:
    """Number each element of a segment by where that starts."""
    i = tid()
    for k in range(starts[i], ends[i]):
        numbers[k] = starts[i]


@kernel
def gather(values: _ANY, order: _INTEGERS, gathered: _ANY) -> None:
    """Take values in an order."""
    i = tid()
    gathered[i] = values[order[i]]


@kernel
def mark_heads(values: _ANY, heads: _INTEGERS) -> None:
    """Mark where a run begins."""
    i = tid()
    heads[i] = 1 if i == 0 or values[i] != values[i - 1] else 0


@kernel
def list_heads(values: _ANY, numbers: _INTEGERS, run_values: _ANY, starts: _INTEGERS) -> None:
    """Write the value and the start of each run; numbers count runs up to each element."""
    i = tid()
    if i == 0 or numbers[i] != numbers[i - 1]:
        run_values[numbers[i] - 1] = values[i]
        starts[numbers[i] - 1] = i


@kernel
def measure_runs(starts: _INTEGERS, count: int32, runs: int32, lengths: _INTEGERS) -> None:
    """Write the length of each run."""
    i = tid()
    lengths[i] = (starts[i + 1] if i + 1 < runs else count) - starts[i]
