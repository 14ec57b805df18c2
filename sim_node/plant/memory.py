"""Memory of a ring in this process alone: for offline runs and replay, where nobody else reads."""

from __future__ import annotations

import mmap

from sim_node import _native
from sim_node.errors import PlantError
from sim_node.layout import Layout

SLOTS = 3
GENERATION = 1


def ring_of(layout: Layout, inputs: Layout) -> _native.Ring:
    """Make a ring for these layouts in anonymous memory.

    Raises PlantError when the state is larger than memory.
    """
    sizes = tuple(field.nbytes for field in inputs)
    texts = layout.text().encode(), inputs.text().encode()
    try:
        memory = mmap.mmap(-1, _native.Ring.size(SLOTS, layout.size, sizes, len(texts[0]), len(texts[1])))
    except (OSError, OverflowError, ValueError) as fault:
        raise PlantError(
            f"{SLOTS} slots of {layout.size} bytes cannot be had: {fault}; make the plant smaller"
        ) from fault
    return _native.Ring.create(memory, SLOTS, layout.size, sizes, GENERATION, bytes.fromhex(layout.digest), *texts)
