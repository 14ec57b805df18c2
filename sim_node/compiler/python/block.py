"""The argument block, read under CPython: what a compiled kernel gets, as values."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from sim_node.compiler.backend.abi import Role, words
from sim_node.compiler.python.arrays import Array, at_address, scalar_at
from sim_node.dtypes import ArrayType, Type


class Block:
    """Where each parameter lies."""

    def __init__(self, types: Sequence[Type]) -> None:
        self.types = types
        placed = words(types)
        self.offsets: list[int] = []
        at = 0
        for type_ in types:
            self.offsets.append(placed[at].offset)
            at += 2 if isinstance(type_, ArrayType) else type_.length
        assert at == len(placed)
        assert all(word.role in Role for word in placed)

    def read(self, address: int) -> list[Any]:
        """Give the arguments: arrays over their memory, other values read."""
        return [self._one(type_, address + offset) for type_, offset in zip(self.types, self.offsets)]

    def _one(self, type_: Type, address: int) -> Any:
        if not isinstance(type_, ArrayType):
            return scalar_at(address, type_)
        data, length = ctypes.c_int64.from_address(address).value, ctypes.c_int64.from_address(address + 8).value
        return Array(at_address(data, type_.dtype, (length,)), type_.dtype, type_.ndim)
