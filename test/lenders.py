"""Memory of the host that passes for a GPU's, so that what is shared can be tested where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node import _native
from sim_node.device.cuda import Cuda
from sim_node.runtime.array import Array
from sim_node.runtime.element import native

STREAM = 0x5000


class Pretended(Cuda):
    """A GPU by name only; ``said`` lists which stream was made to wait for which."""

    stream = STREAM  # type: ignore[assignment]

    def __init__(self) -> None:
        self.ordinal, self.name, self.title, self.uuid, self.said = 3, "cuda:3", "pretended", "GPU-3", []

    def _after(self, waiting: Any, awaited: Any) -> None:
        self.said.append((int(waiting), int(awaited)))

    def array(self, data: np.ndarray, dtype: Any, readonly: bool = False) -> Array:
        """Give an array over numpy's memory, which numpy's array keeps."""
        element = native(dtype)
        outer = data.ndim - len(element.axes)
        memory = _native.Memory(data.ctypes.data, data.nbytes, self, data, readonly)
        return Array(memory, element, data.shape[:outer], data.strides[:outer])


class Lender:
    """An object with CUDA's array interface over numpy's memory; ``said`` goes into it."""

    def __init__(self, data: np.ndarray, /, **said: Any) -> None:
        self.data, self.said = data, said

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        told = {**self.data.__array_interface__, "version": 3, "stream": None}
        return {**told, "data": (self.data.ctypes.data, not self.data.flags.writeable), **self.said}
