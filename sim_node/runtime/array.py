"""Arrays: elements of the kernel language in the memory of a device, shared with numpy wherever that is possible."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sim_node import _native, dtypes
from sim_node.device.names import DEFAULT, Device, get_device
from sim_node.lang.values.structure import StructValue, held, hold, refers
from sim_node.lang.values.value import viewed
from sim_node.runtime import exchange, values
from sim_node.runtime.element import STRUCT, native
from sim_node.runtime.indexed import IndexedArray
from sim_node.runtime.keep import Keep
from sim_node.runtime.pieces import Pieces
from sim_node.runtime.view import Shape, extents, reshaped, select, spanned

Numpy = np.ndarray[Any, Any]

_device = _native.Array.device.__get__  # a property, which the class below has its own of


class Array(_native.Array):
    """Elements in the memory of a device; made by ``sn.array``, ``sn.zeros`` and their kin.

    It is a buffer, so ``numpy.asarray(array)`` shares its memory; the components of an element are numpy's last axes,
    and a struct is a structured dtype. Slices, ``array[i]`` with dimensions left, ``transpose``, ``reshape``,
    ``flatten`` and ``view`` are arrays that share its memory; with no dimension left ``array[i]`` is the element.
    Attributes: ``shape``, ``strides`` (bytes), ``ndim``, ``is_contiguous``, ``ptr`` (address of the first element, None
    where there is none), ``writeable``.
    """

    __slots__ = ("_keeping",)

    _keeping: Keep

    def __class_getitem__(cls, dtype: Any) -> dtypes.ArrayType:
        """Annotate a parameter with an array of one dimension, ``sn.Array[sn.vec3]``, as type checkers accept it."""
        return dtypes.ArrayType(dtypes.PYTHON.get(dtype, dtype))

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.element.dtype

    @property
    def size(self) -> int:
        """Elements in all."""
        return math.prod(self.shape)

    @property
    def capacity(self) -> int:
        """Bytes from its first to its last element."""
        return spanned(self.shape, self.strides, self.element.size)[1]

    @property
    def device(self) -> Device:
        """The device that holds the memory."""
        held: Device | None = _device(self)
        return held or DEFAULT

    def numpy(self) -> Numpy:
        """View the memory as a numpy array; no copy, but of the memory of a GPU, which is read then."""
        return np.asarray(self if _device(self) is None else self._fetched())

    @contextmanager
    def written(self, whole: bool = False) -> Iterator[Numpy]:
        """Show the memory as a numpy array to be written; that of a GPU is a copy, which goes back in the end.

        ``whole`` says that every element is written, so what lies between them is all that need be read before.
        """
        if _device(self) is None:
            yield np.asarray(self)
            return
        pieces = Pieces(self.shape, self.strides, self.element.size)
        copied = self._fetched(pieces, read=not (whole and pieces.gapless))
        memory = np.asarray(copied)
        if not self.writeable:
            memory.flags.writeable = False
        yield memory
        for away, here, *rows in pieces.copies():
            _device(self).write(self._low + away, copied._low + here, *rows)

    @property
    def _low(self) -> int:
        """The address of the lowest byte."""
        address: int = self.ptr + spanned(self.shape, self.strides, self.element.size)[0]
        return address

    def _fetched(self, pieces: Pieces | None = None, read: bool = True) -> Array:
        """Copy the elements, and what lies in short gaps between them, to the host."""
        pieces = pieces or Pieces(self.shape, self.strides, self.element.size)
        place = DEFAULT.allocate(pieces.nbytes, zeroed=not read)  # padding, too, goes back
        made = Array(place, self.element, self.shape, pieces.strides, -pieces.low)
        for away, here, *rows in pieces.copies() if read else ():
            _device(self).read(made._low + here, self._low + away, *rows)
        return made

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if _device(self) is not None:
            raise AttributeError(f"the host cannot read the memory of {self.device}; array.numpy() copies it")
        return np.asarray(self).__array_interface__

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return exchange.interface(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Numpy:
        if copy is False and _device(self) is not None:
            raise ValueError(f"the memory of {self.device} is numpy's only as a copy")
        given = self.numpy()
        return given if dtype is None else given.astype(dtype, copy=False)

    def __dlpack__(self, **asked: Any) -> object:
        return exchange.lend(self, **asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return exchange.device_number(self.device)

    def assign(self, data: Any) -> None:
        """Copy values of the same shape into the array, converted to its dtype.

        Raises TypeError or ValueError when the conversion would lose values, or the shape differs.
        """
        if isinstance(data, Array) and self._moved(data):
            return
        given, kept = values.many(data, self.dtype, self.device)
        shape = (*self.shape, *self.element.axes)
        if given.shape != shape:
            raise ValueError(f"cannot assign shape {given.shape} to an array whose numpy shape is {shape}")
        with self.written(whole=True) as memory:
            memory[...] = given
        self._keep(kept)

    def _moved(self, data: Array) -> bool:
        """Copy inside a GPU where both arrays lie there alike; whether that was done."""
        place = _device(self)
        alike = self.dtype == data.dtype and self.shape == data.shape and self.is_contiguous and data.is_contiguous
        if place is None or _device(data) is not place or not alike or not self.writeable:
            return False
        place.move(self.ptr, data.ptr, self.size * self.element.size)
        self._keep(data._kept)
        return True

    def fill_(self, value: Any) -> None:
        """Set every element to one value: a number, for composites also their components, for structs an instance or 0.

        Raises TypeError or ValueError when the value does not fit the dtype.
        """
        given, kept = values.one(value, self.dtype, self.device)
        with self.written(whole=True) as memory:
            memory[...] = given
        self._keep(kept)

    def zero_(self) -> None:
        """Set every element to zero."""
        with self.written(whole=True) as memory:
            memory[...] = np.zeros((), self.element.numpy)

    def list(self) -> list[Any]:
        """List the elements in row-major order: Python numbers, or values of the composite type."""
        if isinstance(self.dtype, dtypes.Scalar):
            flat: list[Any] = self.numpy().reshape(-1).tolist()
            return flat
        return list(self._elements())

    def _elements(self) -> Iterator[Any]:
        """The elements in row-major order, all of one copy where they are a GPU's."""
        memory = self.numpy()
        for place in np.ndindex(self.shape):
            whole = (*place, ...)  # an array also where it has no axes
            yield self._value(memory[whole], sum(map(operator.mul, place, self.strides)))

    def contiguous(self) -> Array:
        """Return the array itself where its elements follow each other in C order, else a copy in which they do."""
        return self if self.is_contiguous else self._copied()

    def _copied(self) -> Array:
        """Copy the elements, in C order, to memory of the same device."""
        made = self._like(self.shape)
        with made.written(whole=True) as memory:
            memory[...] = self.numpy()
        return made

    def reshape(self, shape: Shape) -> Array:
        """View a contiguous array in another shape of as many elements; one extent may be -1.

        Raises ValueError when the numbers of elements differ or the array is not contiguous.
        """
        if not self.is_contiguous:
            raise ValueError("a strided array has no other shape in place; write array.contiguous().reshape(…)")
        return self._part(extents(reshaped(shape, self.size)))

    def flatten(self) -> Array:
        """View a contiguous array in one dimension.

        Raises ValueError when it is not contiguous.
        """
        return self.reshape(self.size)

    def transpose(self, axes: Sequence[int] | None = None) -> Array:
        """View the array with its dimensions in another order, reversed if none is given.

        Raises ValueError when the axes are no permutation.
        """
        order = list(range(self.ndim))[::-1] if axes is None else [operator.index(axis) for axis in axes]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"axes {axes!r} are no permutation of the {self.ndim} dimensions")
        return self._part(tuple(self.shape[i] for i in order), tuple(self.strides[i] for i in order))

    def view(self, dtype: Any) -> Array:
        """View the same bytes as another dtype: of the same size, or from components to scalars or back.

        The components of ``vec3`` are a last dimension of 3 scalars, those of ``mat33`` two of them. Raises TypeError
        where neither is so, ValueError where the last dimensions are not those components.
        """
        wanted = native(dtypes.element(dtype))
        own = self.element
        if wanted.size == own.size:
            return self._part(self.shape, self.strides, wanted)
        inner = _steps(own) if not wanted.axes else _steps(wanted)
        if own.axes and not wanted.axes and wanted.code != STRUCT and wanted.size == inner[-1]:
            return self._part((*self.shape, *own.axes), (*self.strides, *inner), wanted)
        if wanted.axes and not own.axes and own.code != STRUCT and own.size == inner[-1]:
            count = len(inner)
            if self.shape[-count:] != wanted.axes or self.strides[-count:] != inner:
                raise ValueError(f"the last dimensions of shape {self.shape} are not the components of a {dtype!r}")
            return self._part(self.shape[:-count] or (1,), self.strides[:-count] or (wanted.size,), wanted)
        (source, has), (target, needs) = (_sized(one) for one in (own, wanted))
        raise TypeError(
            f"cannot create an array view with dtype {target} from source dtype {source}: "
            f"source {has}, but target {needs}"
        )

    def to(self, device: str | Device) -> Array:
        """Return the array on a device: itself where it is there already, else a contiguous copy.

        Raises DeviceError for an unknown one.
        """
        place = get_device(device)
        if place.is_cuda == self.device.is_cuda and (place is self.device or not place.is_cuda):
            return self
        made = allocate(self.shape, self.dtype, place)
        made.assign(self)
        return made

    def _part(
        self,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        element: _native.Element | None = None,
        offset: int = 0,
    ) -> Array:
        """Make an array over the same memory."""
        made = Array(self.owner, element or self.element, shape, strides, self.offset + offset)
        if refers(self.dtype) or hasattr(self, "_keeping"):
            made._keeping = self._keeper()
        return made

    def _keeper(self) -> Keep:
        """What keeps the arrays that elements refer to, for all arrays over this memory."""
        if not hasattr(self, "_keeping"):
            self._keeping = Keep()
        return self._keeping

    @property
    def _kept(self) -> Sequence[Any]:
        """What a copy of the elements must keep."""
        return self._keeping.all() if hasattr(self, "_keeping") else ()

    def _like(self, shape: tuple[int, ...]) -> Array:
        """Make an array of the same dtype in memory of its own, which keeps what this one keeps."""
        made = allocate(shape, self.dtype, self.device)
        made._keep(self._kept)
        return made

    def _keep(self, kept: Sequence[Any]) -> None:
        if kept:
            self._keeper().add(kept)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        chosen = select(key, self.shape, self.strides)
        part = self._part(chosen.shape or (1,), chosen.strides or None, offset=chosen.offset)
        if not chosen.shape:
            return part._value(part.numpy()[0, ...], 0)
        return IndexedArray(part, chosen.lists) if chosen.is_indexed else part

    def _value(self, memory: Numpy, offset: int) -> Any:
        """An element so far from the first, in memory of the host: a number, or a value in the array's memory.

        A GPU's is a copy, and read-only: what is written there would be lost.
        """
        if isinstance(self.dtype, dtypes.Scalar):
            return memory[()]
        if _device(self) is not None:
            memory.flags.writeable = False
        value = viewed(self.dtype, memory)
        if refers(self.dtype):
            hold(value, self._keeper().of(self.ptr + offset))
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        chosen = select(key, self.shape, self.strides)
        if not chosen.shape:
            self._part((1,), offset=chosen.offset)._put(value)
            return
        part = self[key]
        if hasattr(value, "__len__") and not _is_one(value, self.element):
            part.assign(value)
        else:
            part.fill_(value)

    def _put(self, value: Any) -> None:
        """Set the one element."""
        given, kept = values.one(value, self.dtype, self.device)
        with self.written(whole=True) as memory:
            memory[...] = given
        if refers(self.dtype):
            fields = self._keeper().of(self.ptr)
            fields.clear()
            fields.update(held(value) if isinstance(value, StructValue) else {"": kept})

    def __iter__(self) -> Iterator[Any]:
        if _device(self) is not None and self.ndim == 1:
            return self._elements()
        return (self[at] for at in range(len(self)))

    def __repr__(self) -> str:
        shown = np.array2string(self.numpy(), separator=", ", prefix="array(")
        return f"array({shown}, dtype={self.dtype!r})"


def _steps(element: _native.Element) -> tuple[int, ...]:
    """The strides of the components of an element."""
    return exchange.components(element.axes, element.numpy.itemsize)


def _sized(element: _native.Element) -> tuple[str, str]:
    """The name of an element type, and how large it is, or its scalars where it has components."""
    scalar = getattr(element.dtype, "scalar", None)
    size = element.size if scalar is None else scalar.size
    number = scalar.numpy.name if scalar is not None else repr(element.dtype)
    if not element.axes:
        return number, f"dtype has size {size} bytes"
    return repr(element.dtype), f"scalar dtype {number} has size {size} bytes"


def _is_one(value: Any, element: _native.Element) -> bool:
    """Whether a value with a length is one element: components, or the fields of a struct."""
    if element.code == STRUCT:
        return isinstance(value, (tuple, np.void))
    return bool(element.axes) and np.shape(value) == element.axes


def allocate(
    shape: Shape,
    dtype: Any,
    device: str | Device | None = None,
    zeroed: bool = False,
    strides: Sequence[int] | None = None,
) -> Array:
    """Make an array in memory of its own, aligned to 64 bytes, in C order or with strides in bytes.

    Raises NotImplementedError for a negative stride: take a slice of the array then.
    """
    element, counts = native(dtypes.element(dtype)), extents(shape)
    place = get_device(device)
    if strides is None:
        return Array(place.allocate(math.prod(counts) * element.size, zeroed), element, counts)
    steps = tuple(operator.index(stride) for stride in strides)
    nbytes = spanned(counts, steps, element.size)[1]
    if min(steps) < 0:
        raise NotImplementedError(f"Negative strides {steps}: make the array without, and take array[::-1]")
    return Array(place.allocate(nbytes, zeroed), element, counts, steps)


def wrap(memory: Any, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> Array:
    """Make an array over the bytes of a buffer; no copy, and the buffer is kept.

    Raises ValueError when the size or alignment of the memory does not fit.
    """
    return Array(memory, native(dtype), shape, strides)
