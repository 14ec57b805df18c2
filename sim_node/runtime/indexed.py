"""Indexed arrays: elements of an array chosen by lists of indices, in place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
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
Places = tuple[Numpy, ...]

_APART = 1 << 16  # bytes that a GPU brings over in about the time that one more copy takes


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

    def _lists(self) -> list[Numpy]:
        """The indices of each dimension of the base array."""
        return [
            np.arange(extent) if packed is None else np.frombuffer(packed, np.int32)
            for packed, extent in zip(self.indices, self.base.shape)
        ]

    def _boxes(self) -> Iterator[tuple[Array, Places, Places, bool]]:
        """Parts of the base array that hold the elements; which of a part's are which of ours; whether they are all.

        On the host that is the base array; of a GPU parts are as far from each other as is worth another copy.
        """
        lists = self._lists()
        if not self.device.is_cuda:
            yield self.base, np.ix_(*lists), np.ix_(*map(np.arange, self.shape)), False
            return
        near = [_near(found, abs(stride)) for found, stride in zip(lists, self.base.strides)]
        for ours in product(*near) if self.size else ():
            chosen = [found[places] for found, places in zip(lists, ours)]
            part = self.base[tuple(slice(int(found.min()), int(found.max()) + 1) for found in chosen)]
            whole = all(np.unique(found).size == extent for found, extent in zip(chosen, part.shape))
            yield part, np.ix_(*(found - found.min() for found in chosen)), np.ix_(*ours), whole

    def numpy(self) -> Numpy:
        """Copy the elements into a numpy array."""
        copied = np.empty((*self.shape, *self.element.axes), self.element.numpy)
        for part, within, ours, _ in self._boxes():
            copied[ours] = part.numpy()[within]
        return copied

    def _write(self, given: Numpy) -> None:
        """Copy numbers to the elements: as many, or those of one."""
        spread = np.broadcast_to(given, (*self.shape, *self.element.axes))
        for part, within, ours, whole in self._boxes():
            with part.written(whole) as memory:
                memory[within] = spread[ours]

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
        given, kept = values.many(data, self.dtype, self.device)
        if given.shape != (*self.shape, *self.element.axes):
            raise ValueError(f"cannot assign shape {given.shape} to an indexed array of shape {self.shape}")
        self._write(given)
        self.base._keep(kept)

    def fill_(self, value: Any) -> None:
        """Set every element to one value. Raises TypeError or ValueError as ``Array.fill_`` does."""
        given, kept = values.one(value, self.dtype, self.device)
        self._write(given)
        self.base._keep(kept)

    def zero_(self) -> None:
        """Set every element to zero."""
        self._write(np.zeros((), self.element.numpy))

    @property
    def _kept(self) -> Sequence[Any]:
        """What keeps the arrays that structs among the elements refer to."""
        return self.base._kept

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numpy:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """Choose among the chosen: an integer or slice a dimension. The element itself where no dimension is left."""
        keys = key if isinstance(key, tuple) else (key,)
        lists = self._lists()
        if len(keys) > self.ndim:
            raise IndexError(f"{len(keys)} indices for an array of {self.ndim} dimensions")
        return self.base[tuple(found[one] for found, one in zip(lists, keys)) + tuple(lists[len(keys) :])]

    def __repr__(self) -> str:
        return f"indexedarray({np.array2string(self.numpy(), separator=', ')}, dtype={self.dtype!r})"


def _is_list(given: Sequence[Any]) -> bool:
    """Whether a sequence is one list of integers, not a list a dimension."""
    return len(given) > 0 and all(isinstance(one, (int, np.integer)) for one in given)


def _near(indices: Numpy, stride: int) -> list[Numpy]:
    """Which indices are of places near each other, in groups; the steps between places have so many bytes."""
    order = np.argsort(indices, kind="stable")
    gaps = (np.diff(indices[order].astype(np.int64)) - 1) * stride
    return np.split(order, np.flatnonzero(gaps > _APART) + 1)


def _packed(given: Any) -> bytes:
    found = np.asarray(given)
    if found.size == 0:
        found = found.astype(np.int32)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise TypeError(f"a list of indices has integers in one dimension, not {found.dtype} of shape {found.shape}; "
                        "select by a mask with array.numpy()[mask]")  # fmt: skip
    return values.numbers(found, dtypes.int32).tobytes()
