"""The CPU as a device: memory of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ALIGNMENT = 64  # bytes: a cache line, and the widest vector load


@dataclass(frozen=True, slots=True)
class Host:
    """The CPU that the process runs on."""

    name: str = "cpu"
    is_cpu: bool = True
    is_cuda: bool = False

    @property
    def alias(self) -> str:
        """The device's name, in Warp's word."""
        return self.name

    def allocate(self, nbytes: int, zeroed: bool = False) -> memoryview:
        """Allocate writeable bytes, aligned to 64; the memory lives as long as the view or anything made from it.

        Raises MemoryError naming the size.
        """
        make = np.zeros if zeroed else np.empty
        try:
            block = make(nbytes + ALIGNMENT, np.uint8)
        except (MemoryError, ValueError):
            raise MemoryError(f"device '{self.name}' cannot allocate {nbytes} bytes") from None
        start = -block.ctypes.data % ALIGNMENT
        return block.data[start : start + nbytes]

    def __str__(self) -> str:
        return self.name
