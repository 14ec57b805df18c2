"""A segment: mapped memory that holds a ring, and numpy views on its parts."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sim_node._native import Ring
from sim_node.errors import RingError
from sim_node.layout import Field, Layout

if TYPE_CHECKING:
    from sim_node.bridge.handover import Handover

# Makes a ring of a given generation in fresh memory.
Form = Callable[[mmap.mmap, int], Ring]
# A ring that is there: its name, where it is, and what maps it; None where it is another user's or group's.
Found = tuple[str, str, "Callable[[], Segment | None] | None"]
Views = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Segment:
    """A ring and the memory it lies in; views on the memory keep it mapped."""

    memory: mmap.mmap
    ring: Ring
    transport: str
    name: str
    inode: int = 0
    path: Path | None = None
    handover: Handover | None = None

    def slot(self, layout: Layout, slot: int, *, writable: bool) -> Views:
        """View each field of a slot, on the slot itself."""
        start = self.ring.slot_offset(slot)
        block = memoryview(self.memory)[start : start + layout.size]
        return {field.name: field.view(block if writable else block.toreadonly()) for field in layout}

    def lane(self, field: Field, index: int, lane: int) -> tuple[np.ndarray[Any, Any], ...]:
        """View the two buffers of a lane of an input's mailbox, writable."""
        alone, memory = replace(field, offset=0), memoryview(self.memory)
        offsets = self.ring.lane_offsets(index, lane)
        return tuple(alone.view(memory[start : start + field.nbytes]) for start in offsets)


def require_memory(size: int, name: str) -> None:
    """Refuse a ring that this machine's free memory cannot hold, before a page of it is touched.

    Raises RingError with the bytes wanted and free.
    """
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    if size > free:
        raise RingError(
            f"ring '{name}' needs {size} bytes and this machine has {free} bytes of memory free: "
            "publish fewer or smaller fields, or use fewer slots"
        )
