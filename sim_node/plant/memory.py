"""Memory of a stepper: how much there may be, and a ring in this process alone for runs that nobody else reads."""

from __future__ import annotations

import mmap
from pathlib import Path

from sim_node import _native
from sim_node.errors import PlantError
from sim_node.layout import Layout

SLOTS = 3
GENERATION = 1


def require(plant: str, layout: Layout, state: Layout, private: Layout) -> None:
    """Raise PlantError when a stepper with a ring of its own would need more memory than the machine has left.

    Without that check the kernel would hand the memory out, and end the process at the first write into it.
    """
    needed = layout.size * (SLOTS + _native.SPARES + 1) + private.size * 3 + state.size * 3
    rows = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(rows["MemAvailable"].split()[0]) * 1024
    if needed > available:
        raise PlantError(
            f"{plant}: its state of {state.size / 2**30:.3g} GiB needs {needed / 2**30:.3g} GiB of memory, "
            f"and {available / 2**30:.3g} GiB are available; make the plant smaller"
        )


def ring_of(layout: Layout, inputs: Layout) -> _native.Ring:
    """Make a ring for these layouts in anonymous memory, of which a forked child has a copy of its own.

    Raises PlantError when the state is larger than memory.
    """
    sizes = tuple(field.nbytes for field in inputs)
    texts = layout.text().encode(), inputs.text().encode()
    try:
        size = _native.Ring.size(SLOTS, layout.size, sizes, len(texts[0]), len(texts[1]))
        memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE)
    except (OSError, OverflowError, ValueError) as fault:
        raise PlantError(
            f"{SLOTS} slots of {layout.size} bytes cannot be had: {fault}; make the plant smaller"
        ) from fault
    return _native.Ring.create(memory, SLOTS, layout.size, sizes, GENERATION, bytes.fromhex(layout.digest), *texts)
