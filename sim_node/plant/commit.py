"""The commit of a slot by the GPU that filled it: readers see it with no thread of the host in between."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

from __future__ import annotations

from typing import NamedTuple

import sim_node as sn
from sim_node.device.names import Device
from sim_node.plant.hashing import SUMS
from sim_node.runtime.cell import Cell
from sim_node.runtime.plan import Plan

_SEQUENCE, _HASH = 0, 2  # words of a slot's head: include/sim_node/ring/segment.h, sn_slot
_SLOT_WORDS = 8


@sn.kernel
def publish(
    sums: sn.array(dtype=sn.uint64),
    stopped: sn.array(dtype=sn.uint32),
    slot: sn.array(dtype=sn.uint64),
    latest: sn.array(dtype=sn.uint64),
    sequence: sn.uint64,
    before: sn.uint64,
    after: sn.uint64,
):
    """Give a slot its hash and sequence, then name it as the newest, unless a thread has stopped itself.

    What comes before the compare-and-swap is seen by whoever sees what it wrote, on the host, too: it is a release for
    the whole system.
    """
    if stopped[0] == sn.uint32(0):
        total = sn.uint64(0)
        for i in range(SUMS):
            total += sums[sums.shape[0] - SUMS + i]
        slot[_HASH] = total
        slot[_SEQUENCE] = sequence
        sn.atomic_cas(latest, 0, before, after)


class Commit(NamedTuple):
    """The kernel as ``src/stepper_away.c`` launches it: the driver's handle, threads in a block, what keeps it."""

    function: int
    block: int
    plan: Plan


def commit(device: Device, fields: int) -> Commit:
    """Load the kernel that commits a state of so many fields."""
    plan = Plan(device)
    words = (sn.uint64, (fields + 1) * SUMS), (sn.uint32, 1), (sn.uint64, _SLOT_WORDS), (sn.uint64, 1)
    memory = [Cell(dtype, count) for dtype, count in words]
    plan.launch(publish, dim=1, inputs=[*memory, 0, 0, 0])
    ((function, _, block, *_),) = plan.packed(tuple(0 for _ in memory))
    return Commit(function, block, plan)
