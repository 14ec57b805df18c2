"""Rings in anonymous memory: for readers in the producer's own process. A forked child has a copy of its own."""

from __future__ import annotations

import mmap

from sim_node.bridge.segment import Form, Segment, require_memory

TRANSPORT = "in_process"


def create(name: str, size: int, form: Form) -> Segment:
    """Make a ring that no other process can open.

    Raises RingError when the memory is not there.
    """
    require_memory(size, name)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_POPULATE)
    return Segment(memory, form(memory, 1), TRANSPORT, name)
