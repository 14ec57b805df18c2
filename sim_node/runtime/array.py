"""Arrays: elements of the kernel language in the memory of a device, shared with numpy wherever that is possible."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sim_node import _native, dtypes
from sim_node.device.names import DEFAULT, Device, get_device
from sim_node.lang.values.structure import hold, refers
from sim_node.lang.values.value import viewed
from sim_node.runtime import exchange, values
from sim_node.runtime.element import STRUCT, native
from sim_node.runtime.indexed import IndexedArray
from sim_node.runtime.view import MAX_NDIM, reshaped, select

Numpy = np.ndarray[Any, Any]
Shape = int | Iterable[int]

_device = _native.Array.device.__get__  # a property, which the class below has its own of


class Array(_native.Array):
    """Elements in the memory of a device; made by ``sn.array``, ``sn.zeros`` and their kin.

    It is a buffer, so ``numpy.asarray(array)`` shares its memory; the components of an element are numpy's last axes,
    and a struct is a structured dtype. Slices, ``array[i]`` with dimensions left, ``transpose``, ``reshape``,
    ``flatten`` and ``view`` are arrays that share its memory; with no dimension left ``array[i]`` is the element.
    Attributes: ``shape``, ``strides`` (bytes), ``ndim``, ``is_contiguous``, ``ptr`` (address of the first element, None
    where there is none), ``writeable``.
    """

    __slots__ = ("_held", "_kept")

    _kept: Sequence[Any]
    _held: dict[int, dict[str, Any]]  # by an element's address: the arrays that its fields were made to refer to

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

        ``whole`` says that every element is written, so nothing need be read before.
        """
        if _device(self) is None:
            yield np.asarray(self)
            return
        copied = self._fetched(read=not (whole and self.is_contiguous))
        yield np.asarray(copied)
        low, nbytes = spanned(self.shape, self.strides, self.element.size)
        if nbytes:
            _device(self).write(self.ptr + low, copied.ptr + low, nbytes)

    def _fetched(self, read: bool = True) -> Array:
        """Copy the memory from the first to the last element to the host: an array of the same strides."""
        low, nbytes = spanned(self.shape, self.strides, self.element.size)
        made = Array(DEFAULT.allocate(nbytes), self.element, self.shape, self.strides, -low)
        if read and nbytes:
            _device(self).read(made.ptr + low, self.ptr + low, nbytes)
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
        given, kept = values.many(data, self.dtype)
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
        if place is None or _device(data) is not place or not alike:
            return False
        place.move(self.ptr, data.ptr, self.size * self.element.size)
        self._keep(getattr(data, "_kept", ()))
        return True

    def fill_(self, value: Any) -> None:
        """Set every element to one value: a number, for composites also their components, for structs an instance or 0.

        Raises TypeError or ValueError when the value does not fit the dtype.
        """
        given, kept = values.one(value, self.dtype)
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
        flat_view = self.contiguous().flatten()
        return [flat_view[at] for at in range(self.size)]

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
        if hasattr(self, "_kept"):
            made._kept = self._kept
        if refers(self.dtype):
            made._held = self._holding()
        return made

    def _holding(self) -> dict[int, dict[str, Any]]:
        """What elements hold, for all arrays over this memory."""
        if not hasattr(self, "_held"):
            self._held = {}
        return self._held

    def _like(self, shape: tuple[int, ...]) -> Array:
        """Make an array of the same dtype in memory of its own, which keeps what this one keeps."""
        made = allocate(shape, self.dtype, self.device)
        made._keep(getattr(self, "_kept", []))
        return made

    def _keep(self, kept: Sequence[Any]) -> None:
        if kept:
            self._kept = [*getattr(self, "_kept", ()), *kept]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        chosen = select(key, self.shape, self.strides)
        if not chosen.shape:
            return self._element(key)
        part = self._part(chosen.shape, chosen.strides, offset=chosen.offset)
        return IndexedArray(part, chosen.lists) if chosen.is_indexed else part

    def _element(self, key: Any) -> Any:
        """The element of as many indices as dimensions: a number, or a value in the array's memory."""
        keys = key if isinstance(key, tuple) else (key,)
        if isinstance(self.dtype, dtypes.Scalar):
            return self.numpy()[keys]
        whole = (*(one for one in keys if one is not Ellipsis), ...)  # an array also where it has no axes
        memory = self.numpy()[whole]
        value = viewed(self.dtype, memory)
        if refers(self.dtype):
            hold(value, self._holding().setdefault(memory.ctypes.data, {}))
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        part = self[key] if select(key, self.shape, self.strides).shape else None
        if part is None:
            given, kept = values.one(value, self.dtype)
            with self.written() as memory:
                memory[key] = given
            self._keep(kept)
        elif hasattr(value, "__len__") and not _is_one(value, self.element):
            part.assign(value)
        else:
            part.fill_(value)

    def __iter__(self) -> Iterator[Any]:
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


def extents(shape: Shape) -> tuple[int, ...]:
    """Read a shape, an int or a sequence of ints, as a tuple.

    Raises TypeError for anything else, ValueError for a negative extent or more dimensions than four.
    """
    try:
        found = tuple(operator.index(n) for n in (shape if isinstance(shape, Iterable) else (shape,)))
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None
    if not 1 <= len(found) <= MAX_NDIM:
        raise ValueError(f"shape {shape!r}: an array has 1 to {MAX_NDIM} dimensions")
    if min(found) < 0:
        raise ValueError(f"Array shapes must be non-negative, and {shape!r} is not")
    return found


def spanned(shape: tuple[int, ...], strides: Sequence[int], size: int) -> tuple[int, int]:
    """The bytes of elements of a size: where the lowest begins, counted from the first, and how many there are.

    Raises ValueError where there is not one stride a dimension.
    """
    if len(strides) != len(shape):
        raise ValueError(f"Invalid number of strides, expected {len(shape)} strides, got {len(strides)}")
    if 0 in shape:
        return 0, 0
    spans = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    return sum(min(span, 0) for span in spans), sum(map(abs, spans)) + size


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
