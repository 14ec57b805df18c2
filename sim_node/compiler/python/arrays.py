"""Arrays under CPython: memory that is given by address, read and written element by element, each index checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim_node.compiler.python.settle import WEAK, scalar_of
from sim_node.compiler.python.stop import StopError
from sim_node.dtypes import ArrayType, Scalar, Struct, Type
from sim_node.lang.values.structure import memory_type
from sim_node.lang.values.value import Value, canonical, memory_of, viewed

Numpy = np.ndarray[Any, Any]


class Array:
    """An array parameter, or a view of one. ``shape`` and ``len`` are i32, as in a kernel."""

    def __init__(self, memory: Numpy, dtype: Any, ndim: int) -> None:
        self.memory, self.dtype, self.ndim = memory, dtype, ndim

    @property
    def shape(self) -> tuple[Any, ...]:
        """Elements in each dimension."""
        return tuple(map(np.int32, self.memory.shape[: self.ndim]))

    @property
    def size(self) -> Any:
        """Elements in all."""
        return np.int32(np.prod(self.memory.shape[: self.ndim]))

    def load(self, key: Any, subject: str) -> Any:
        """Read an element as a value of its own, or make a view of fewer elements or dimensions."""
        part = self._part(key, subject)
        if isinstance(part, (Array, np.generic)):
            return part
        return viewed(self.dtype, part.copy())

    def place(self, key: Any, subject: str) -> Any:
        """Show an element that is composite as a value that writes through, or make a view as ``load`` does."""
        part = self._part(key, subject)
        return part if isinstance(part, Array) else viewed(self.dtype, part)

    def store(self, key: Any, value: Any, subject: str) -> None:
        """Write an element; NaN becomes the canonical one."""
        index = self._index(key, subject)
        if type(value) in WEAK:
            value = scalar_of(value, self.dtype)
        if isinstance(value, Value):
            self.memory[index] = canonical(memory_of(value))
        else:
            assert value.dtype == self.memory.dtype, f"{value.dtype} into {self.dtype!r}"
            self.memory[index] = value if value == value else value.dtype.type(np.nan)

    def _part(self, key: Any, subject: str) -> Any:
        index = self._index(key, subject)
        left = self.ndim - sum(not isinstance(one, slice) for one in index)
        # of a struct the element as an array of no dimension, which shows its memory
        part = self.memory[index if left or self.memory.dtype.names is None else (*index, ...)]
        return Array(part, self.dtype, left) if left else part

    def _index(self, key: Any, subject: str) -> tuple[Any, ...]:
        """Check each index against its dimension; a constant one below 0 counts from the end."""
        keys = key if type(key) is tuple else (key,)
        kinds = ["index"] if self.ndim == 1 else [f"index {dimension}" for dimension in range(self.ndim)]
        return tuple(
            checked(one, int(length), subject, kind) for one, length, kind in zip(keys, self.memory.shape, kinds)
        )

    def __getitem__(self, key: Any) -> Any:
        return self.load(key, "")

    def __setitem__(self, key: Any, value: Any) -> None:
        self.store(key, value, "")

    def __len__(self) -> int:
        return len(self.memory)

    def __bool__(self) -> bool:
        return self.memory.size > 0

    def __repr__(self) -> str:
        return f"array({np.array2string(self.memory, separator=', ')}, dtype={self.dtype!r})"


def checked(index: Any, length: int, subject: str, kind: str = "index") -> Any:
    """Check an index, or give a slice in Python's integers; stops the thread outside of the length."""
    if isinstance(index, slice):
        ends = (None if end is None else int(end) for end in (index.start, index.stop, index.step))
        return slice(*ends)
    at = int(index)
    if type(index) is int and at < 0:
        at += length
    if not 0 <= at < length:
        raise StopError(kind, subject, at, length)
    return at


def numpy_of(dtype: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The numpy dtype of one element's parts, and the shape in which they stand."""
    return (memory_type(dtype), ()) if isinstance(dtype, Struct) else (dtype.numpy, dtype.shape)


def at_address(address: int, dtype: Any, shape: Sequence[int], strides: Sequence[int] | None = None) -> Numpy:
    """Show memory as a numpy array of elements; strides are bytes, by default those of C order."""
    base, parts = numpy_of(dtype)
    full = (*shape, *parts)
    if 0 in full:
        return np.empty(full, base)
    inner = np.empty((1, *parts), base).strides
    if strides is None:
        strides = np.empty((1, *shape[1:], *parts), base).strides[: len(shape)]
    interface = {"version": 3, "shape": full, "strides": (*strides, *inner[1:]), "data": (address, False)}
    interface |= {"typestr": base.str, "descr": base.descr}
    return np.asarray(type("Memory", (), {"__array_interface__": interface})())


def scalar_at(address: int, dtype: Type) -> Any:
    """Read one element that is given by address, as a value of its own."""
    memory = at_address(address, dtype, ())
    return memory[()] if isinstance(dtype, Scalar) else viewed(dtype, memory.copy())


def array_at(address: int, type_: ArrayType) -> Array:
    """Show the array whose descriptor is given by address."""
    words = [int(scalar_at(address + leaf.offset, leaf.scalar)) for leaf in type_.leaves]
    shape, strides = words[1 : 1 + type_.ndim], words[1 + type_.ndim :] or None
    return Array(at_address(words[0], type_.dtype, shape, strides), type_.dtype, type_.ndim)
