"""The kernels that faults are made of: from a value, the table of faults and what was before to the value that is seen.

One word of the table is a float64, which holds all its counts exactly.
"""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def, no-any-return"
# (kernels are typed in the kernel language)

from __future__ import annotations

from functools import cache
from typing import Any

import sim_node as sn
from sim_node import dtypes
from sim_node.plant.fault import KINDS

# The columns of the table. A row of kind 0 is none.
VARIABLE, KIND, ELEMENT, FIRST, LAST, VALUE, SEED = range(7)
COLUMNS = 7
STUCK, OFFSET, GAIN, NOISE, DELAY, DROP, NAN, FLIP = (KINDS.index(kind) + 1 for kind in KINDS)
Element = dtypes.Scalar | dtypes.Composite
_WORDS = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}


@sn.func
def stream(seed: sn.float64, tick: sn.int64) -> sn.uint32:
    """The random numbers of a fault in a tick."""
    return sn.rand_init(sn.cast(sn.uint32(seed), sn.int32), sn.int32(tick))


@sn.kernel
def count(runs: sn.array(dtype=sn.int64), runs_next: sn.array(dtype=sn.int64)):
    """Count the runs of the plan."""
    runs_next[0] = runs[0] + sn.int64(1)


@cache
def remembering(element: Element) -> Any:
    """Make the kernel that keeps a variable's last ticks, the newest first; each begins with its first run."""

    @sn.kernel
    def remember(
        now: sn.array(dtype=element),
        past: sn.array(dtype=element),
        runs: sn.array(dtype=sn.int64),
        substeps: int,
        size: int,
        past_next: sn.array(dtype=element),
    ):
        i = sn.tid()
        if i < size:
            past_next[i] = now[i]
        elif runs[0] % sn.int64(substeps) == sn.int64(0):
            past_next[i] = past[i - size]
        else:
            past_next[i] = past[i]

    return remember


@cache
def changing(scalar: dtypes.Scalar) -> Any:
    """Make the func that gives a number one fault."""
    is_bool, is_float = scalar is dtypes.bool_, scalar.is_float
    word = _WORDS[8 if is_bool else scalar.bits]

    @sn.func
    def converted(value: sn.float64) -> scalar:
        """The nearest value of the type; integers end at their limits."""
        if is_bool:
            return value != 0.0
        return scalar(value) if is_float else scalar(sn.rint(value))

    @sn.func
    def flipped(value: scalar, bit: int) -> scalar:
        if is_bool:
            return not value
        return sn.cast(sn.cast(value, word) ^ (word(1) << word(bit)), scalar)

    @sn.func
    def changed(x: scalar, before: scalar, late: scalar, kind: int, value: sn.float64, seed: sn.float64,
                tick: sn.int64, number: int) -> scalar:  # fmt: skip
        y = x
        if kind in (STUCK, NAN):
            y = converted(value)
        elif kind == OFFSET:
            y = converted(sn.float64(x) + value)
        elif kind == GAIN:
            y = converted(sn.float64(x) * value)
        elif kind == NOISE:
            state = sn.rand_init(sn.cast(stream(seed, tick), sn.int32), number)
            y = converted(sn.float64(x) + value * sn.float64(sn.randn(state)))
        elif kind == DELAY:
            y = late
        elif kind == DROP:
            state = stream(seed, tick)
            if sn.float64(sn.randf(state)) < value:
                y = before
        elif kind == FLIP:
            y = flipped(x, sn.int32(value))
        return y

    return changed


@cache
def injecting(element: Element) -> Any:
    """Make the kernel that gives a variable the faults of its rows in the table, one after the other."""
    changed, length, columns = changing(element.scalar), element.length, (element.shape or (1,))[-1]
    is_matrix = isinstance(element, dtypes.Matrix)

    @sn.kernel
    def inject(
        true: sn.array(dtype=element),
        before: sn.array(dtype=element),
        held: sn.array(dtype=element),
        past: sn.array(dtype=element),
        table: sn.array(dtype=sn.float64),
        runs: sn.array(dtype=sn.int64),
        variable: int,
        rows: int,
        longest: int,
        size: int,
        substeps: int,
        held_next: sn.array(dtype=element),
        seen: sn.array(dtype=element),
    ):
        i = sn.tid()
        tick = runs[0] // sn.int64(substeps) + sn.int64(1)
        now = sn.float64(tick)
        x, old = true[i], held[i]
        if runs[0] % sn.int64(substeps) == sn.int64(0):
            old = before[i]  # what the last tick ended with
        held_next[i] = old
        for row in range(rows):
            at = row * COLUMNS
            if sn.int32(table[at + VARIABLE]) == variable and table[at + FIRST] <= now and now <= table[at + LAST]:
                kind, which = sn.int32(table[at + KIND]), sn.int32(table[at + ELEMENT])
                value, seed = table[at + VALUE], table[at + SEED]
                late = past[sn.clamp(sn.int32(value), 0, longest) * size + i]
                for c in range(length):
                    number = i * length + c
                    if which < 0 or which == number:
                        if length == 1:
                            x = changed(x, old, late, kind, value, seed, tick, number)
                        elif is_matrix:
                            x[c // columns, c % columns] = changed(
                                x[c // columns, c % columns], old[c // columns, c % columns],
                                late[c // columns, c % columns], kind, value, seed, tick, number,
                            )  # fmt: skip
                        else:
                            x[c] = changed(x[c], old[c], late[c], kind, value, seed, tick, number)
        seen[i] = x

    return inject
