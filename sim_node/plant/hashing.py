"""The hashes of a state on a GPU: the sums of src/hash.h, made by a kernel, in parts that are added up later."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sim_node as sn
from sim_node.device.names import Device
from sim_node.runtime.cell import Cell
from sim_node.runtime.plan import Plan
from sim_node.runtime.rounds import Closing

SUMS = 32  # of a field, and of all: src/stepper.h; one a thread of a warp, so that few threads add to the same
PHI, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # src/hash.h
_MOST_THREADS, _WORDS_A_THREAD = 1 << 15, 8


class Hashed(NamedTuple):
    """A field to be hashed: its number in the state, bytes, cell in the plan, and whether the host has its memory."""

    number: int
    nbytes: int
    cell: int
    is_far: bool


@sn.kernel
def add(words: sn.array(dtype=sn.uint64), field: int, threads: int, sums: sn.array(dtype=sn.uint64)):
    """Add the mixed words of a field to its sums and to the last ones; a thread takes each ``threads``-th of them."""
    total = sn.uint64(0)
    position = (sn.uint64(field) << sn.uint64(40)) + sn.uint64(1)
    for i in range(sn.tid(), words.shape[0], threads):
        z = words[i] + (position + sn.uint64(i)) * sn.uint64(PHI)
        z = (z ^ (z >> sn.uint64(30))) * sn.uint64(FIRST)
        z = (z ^ (z >> sn.uint64(27))) * sn.uint64(SECOND)
        total += z ^ (z >> sn.uint64(31))
    lane = sn.tid() % SUMS
    sn.atomic_add(sums, field * SUMS + lane, total)
    sn.atomic_add(sums, sums.shape[0] - SUMS + lane, total)


def hashing(device: Device, count: int, fields: Sequence[Hashed]) -> Closing:
    """Make what hashes fields at the end of a run, of ``count`` that the state has.

    A field has zeros behind it up to a whole word.
    """
    plan, sums = Plan(device), sn.zeros((count + 1) * SUMS, dtype=sn.uint64, device=device)
    for field in fields:
        words = -(-field.nbytes // 8)
        # the host's memory is a microsecond away: all of it is asked for at once
        threads = min(words if field.is_far else -(-words // _WORDS_A_THREAD), _MOST_THREADS)
        plan.launch(add, dim=threads, inputs=[Cell(sn.uint64, words), field.number, threads], outputs=[sums])
    return Closing(plan, tuple(field.cell for field in fields), sums)
