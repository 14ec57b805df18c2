"""Indexed arrays: elements of an array chosen by lists of indices, in place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sim_node import _native, dtypes
from sim_node.device.cuda import Cuda
from sim_node.device.names import Device
from sim_node.runtime import values

if TYPE_CHECKING:
    from typing_extensions import Self

    from sim_node.runtime.array import Array

Numpy = np.ndarray[Any, Any]


class IndexedArray(_native.Indexed):
    """Elements of an array by a list of indices for each dimension, or None for all of it; what ``array[indices]`` is.

    Kernels read and write the array's own elements through it. The lists are read once, when it is made, and every
    index is checked then, so that kernels need not. Attributes: ``shape``, ``ndim``.
    """

    __slots__ = ()

    base: Array

    def __new__(cls, array: Array, indices: Any) -> Self:
        """Raise IndexError for an index outside its dimension, TypeError for what is no list of integers."""
        lists = indices if isinstance(indices, (tuple, list)) and not _is_list(indices) else (indices,)
        packed = tuple(None if one is None else _packed(one) for one in lists)
        place = array.device
        there = tuple(None if one is None else place.holding(one) for one in packed) if isinstance(place, Cuda) else ()
        return super().__new__(cls, array, packed, there)

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.base.element.dtype

    @property
    def element(self) -> _native.Element:
        """The element type as C knows it."""
        return self.base.element

    @property
    def size(self) -> int:
        """Elements in all."""
        return math.prod(self.shape)

    @property
    def is_contiguous(self) -> bool:
        """False: the elements are wherever the lists say."""
        return False

    @property
    def device(self) -> Device:
        """The device that holds the elements."""
        return self.base.device

    def _key(self) -> tuple[Any, ...]:
        """The lists as numpy's key for the base array."""
        base = self.base
        lists = [
            np.arange(extent) if packed is None else np.frombuffer(packed, np.int32)
            for packed, extent in zip(self.indices, base.shape)
        ]
        return np.ix_(*lists)

    def numpy(self) -> Numpy:
        """Copy the elements into a numpy array."""
        copied: Numpy = self.base.numpy()[self._key()]
        return copied

    def contiguous(self) -> Array:
        """Copy the elements into an array."""
        made: Array = self.base._like(self.shape)
        with made.written(whole=True) as memory:
            memory[...] = self.numpy()
        return made

    def list(self) -> list[Any]:
        """List the elements in row-major order."""
        return self.contiguous().list()

    def assign(self, data: Any) -> None:
        """Copy values of the same shape to the elements. Raises TypeError or ValueError as ``Array.assign`` does."""
        given, kept = values.many(data, self.dtype)
        if given.shape != (*self.shape, *self.element.axes):
            raise ValueError(f"cannot assign shape {given.shape} to an indexed array of shape {self.shape}")
        with self.base.written() as memory:
            memory[self._key()] = given
        self.base._keep(kept)

    def fill_(self, value: Any) -> None:
        """Set every element to one value. Raises TypeError or ValueError as ``Array.fill_`` does."""
        given, kept = values.one(value, self.dtype)
        with self.base.written() as memory:
            memory[self._key()] = given
        self.base._keep(kept)

    def zero_(self) -> None:
        """Set every element to zero."""
        with self.base.written() as memory:
            memory[self._key()] = np.zeros((), self.element.numpy)

    @property
    def _kept(self) -> Sequence[Any]:
        """What keeps the arrays that structs among the elements refer to."""
        return getattr(self.base, "_kept", [])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numpy:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Choose among the chosen: an integer or slice a dimension. The element itself where no dimension is left."""
        keys = key if isinstance(key, tuple) else (key,)
        lists = [
            np.arange(extent) if packed is None else np.frombuffer(packed, np.int32)
            for packed, extent in zip(self.indices, self.base.shape)
        ]
        if len(keys) > self.ndim:
            raise IndexError(f"{len(keys)} indices for an array of {self.ndim} dimensions")
        return self.base[tuple(found[one] for found, one in zip(lists, keys)) + tuple(lists[len(keys) :])]

    def __repr__(self) -> str:
        return f"indexedarray({np.array2string(self.numpy(), separator=', ')}, dtype={self.dtype!r})"


def _is_list(given: Sequence[Any]) -> bool:
    """Whether a sequence is one list of integers, not a list a dimension."""
    return len(given) > 0 and all(isinstance(one, (int, np.integer)) for one in given)


def _packed(given: Any) -> bytes:
    found = np.asarray(given)
    if found.size == 0:
        found = found.astype(np.int32)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise TypeError(f"a list of indices has integers in one dimension, not {found.dtype} of shape {found.shape}; "
                        "select by a mask with array.numpy()[mask]")  # fmt: skip
    return values.numbers(found, dtypes.int32).tobytes()
