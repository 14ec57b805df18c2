"""The argument block, read under CPython: what a compiled kernel gets, as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim_node.compiler.backend.abi import HEAD, MAX_DIMS
from sim_node.compiler.python.arrays import array_at, at_address, scalar_at
from sim_node.dtypes import ArrayType, Type, int32, placed


class Block:
    """Where each parameter lies."""

    def __init__(self, types: Sequence[Type]) -> None:
        self.types = types
        self.offsets = [HEAD + offset for offset in placed(types)[0]]

    def dims(self, address: int) -> tuple[int, ...]:
        """Give the dims of the launch, 1 where there are fewer."""
        return tuple(map(int, at_address(address, int32, (MAX_DIMS,))))

    def read(self, address: int) -> list[Any]:
        """Give the arguments: arrays over their memory, other values read."""
        return [self._one(type_, address + offset) for type_, offset in zip(self.types, self.offsets)]

    def _one(self, type_: Type, address: int) -> Any:
        if not isinstance(type_, ArrayType):
            return scalar_at(address, type_)
        return array_at(address, type_)


def coordinates(thread: int, dims: Sequence[int], count: int) -> tuple[Any, ...]:
    """Split the number of a thread, which goes row by row, into its coordinates."""
    split = np.unravel_index(thread, tuple(dims[:count])) if count > 1 else (thread,)
    return tuple(map(np.int32, split))
