"""Arrays under CPython: memory that is given by address, read and written element by element, each index checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sim_node.compiler.python.settle import WEAK, scalar_of
from sim_node.compiler.python.stop import StopError
from sim_node.dtypes import LAYOUTS, ArrayType, Scalar, Struct, Type, int32
from sim_node.lang.values.structure import memory_type
from sim_node.lang.values.value import Value, canonical, memory_of, viewed

Numpy = np.ndarray[Any, Any]


class Array:
    """An array parameter, or a view of one. ``shape`` and ``len`` are i32, as in a kernel.

    ``lists`` has for each dimension the indices into memory, where the array is indexed, or None.
    """

    def __init__(self, memory: Numpy, dtype: Any, ndim: int, lists: Sequence[Numpy | None] = ()) -> None:
        self.memory, self.dtype, self.ndim = memory, dtype, ndim
        self.lists = lists or (None,) * ndim

    @property
    def lengths(self) -> list[int]:
        """Elements in each dimension, as Python's integers."""
        return [length if its is None else len(its) for length, its in zip(self.memory.shape, self.lists)]

    @property
    def shape(self) -> tuple[Any, ...]:
        """Elements in each dimension."""
        return tuple(map(np.int32, self.lengths))

    @property
    def ptr(self) -> Any:
        """The address of the first element."""
        return np.uint64(self.memory.ctypes.data)

    def descriptor(self, layout: int) -> bytes:
        """The words that a struct knows the array by, in a layout by its code."""
        kind = ArrayType(self.dtype, self.ndim, LAYOUTS[layout])
        lists = [0 if its is None else its.ctypes.data for its in self.lists]
        words = [self.memory.ctypes.data, *self.lengths, *self.memory.strides[: self.ndim], *lists]
        made = bytearray(kind.size)
        for leaf, word in zip(kind.leaves, words):
            made[leaf.offset : leaf.offset + leaf.scalar.size] = leaf.scalar.numpy.type(word).tobytes()
        return bytes(made)

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
        if not left:
            return part
        kept = [its for at, its in enumerate(self.lists) if at >= len(index) or isinstance(index[at], slice)]
        return Array(part, self.dtype, left, kept)

    def _index(self, key: Any, subject: str) -> tuple[Any, ...]:
        """Check each index against its dimension; a constant one below 0 counts from the end."""
        keys = key if type(key) is tuple else (key,)
        kinds = ["index"] if self.ndim == 1 else [f"index {dimension}" for dimension in range(self.ndim)]
        index = [checked(one, length, subject, kind) for one, length, kind in zip(keys, self.lengths, kinds)]
        return tuple(at if its is None else int(its[at]) for at, its in zip(index, self.lists))

    def __getitem__(self, key: Any) -> Any:
        return self.load(key, "")

    def __setitem__(self, key: Any, value: Any) -> None:
        self.store(key, value, "")

    def __len__(self) -> int:
        return self.lengths[0]

    def __bool__(self) -> bool:
        return all(self.lengths)

    def __repr__(self) -> str:
        shown = self.memory
        for axis, its in enumerate(self.lists):
            shown = shown if its is None else shown.take(its, axis)
        return f"array({np.array2string(shown, separator=', ')}, dtype={self.dtype!r})"


def checked(index: Any, length: int, subject: str, kind: str = "index") -> Any:
    """Check an index, or give a slice in Python's integers; stops the thread outside of the length."""
    if isinstance(index, slice):
        start, stop, step = (None if end is None else int(end) for end in (index.start, index.stop, index.step))
        if step == 0:
            raise StopError("assert", "slice step cannot be zero")
        return slice(start, stop, step)
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
    interface["typestr"] = base.str
    return np.asarray(type("Memory", (), {"__array_interface__": interface})()).view(base)


def scalar_at(address: int, dtype: Type) -> Any:
    """Read one element that is given by address, as a value of its own."""
    memory = at_address(address, dtype, ())
    return memory[()] if isinstance(dtype, Scalar) else viewed(dtype, memory.copy())


def array_at(address: int, type_: ArrayType) -> Array:
    """Show the array whose descriptor is given by address."""
    words = [int(scalar_at(address + leaf.offset, leaf.scalar)) for leaf in type_.leaves]
    data, (shape, strides, indices) = words[0], (words[1 + part * type_.ndim :][: type_.ndim] for part in range(3))
    lists = [at_address(where, int32, (length,)) if where else None for where, length in zip(indices, shape)]
    # memory as far as the lists reach into it
    reach = [length if its is None or not length else int(its.max()) + 1 for length, its in zip(shape, lists)]
    return Array(at_address(data, type_.dtype, reach or shape, strides or None), type_.dtype, type_.ndim, lists)
