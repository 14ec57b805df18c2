"""Arrays: elements of the kernel language in the memory of a device, shared with numpy wherever that is possible."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sim_node import _native, dtypes
from sim_node.device.names import DEFAULT, Device, get_device
from sim_node.runtime import values

Numpy = np.ndarray[Any, Any]
Shape = int | Sequence[int]

# What a launch reads in C, back to our types.
_ELEMENTS = {(element.scalar.code, element.length): element for element in dtypes.ELEMENTS.values()}


class Array(_native.Array):
    """Elements in the memory of a device; made by ``sn.array``, ``sn.zeros`` and their kin.

    It is a buffer, so ``numpy.asarray(array)`` shares its memory; the components of a vector are numpy's last axis.
    Attributes: ``shape``, ``ndim``, ``ptr`` (address of the first element), ``writeable``.
    """

    __slots__ = ()

    @property
    def dtype(self) -> dtypes.Element:
        """The element type."""
        return element_of(self)

    @property
    def size(self) -> int:
        """Elements in all."""
        return math.prod(self.shape)

    @property
    def device(self) -> Device:
        """The device that holds the memory."""
        return DEFAULT

    def numpy(self) -> Numpy:
        """View the memory as a numpy array; no copy."""
        return np.asarray(self)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self.numpy().__array_interface__

    def assign(self, data: ArrayLike) -> None:
        """Copy values of the same shape into the array, converted to its dtype.

        Raises TypeError or ValueError when the conversion would lose values, or the shape differs.
        """
        given, into = values.many(data, self.dtype), self.numpy()
        if given.shape != into.shape:
            raise ValueError(f"cannot assign shape {given.shape} to an array whose numpy shape is {into.shape}")
        into[...] = given

    def fill_(self, value: ArrayLike) -> None:
        """Set every element to one value: a number, or for vectors also its components.

        Raises TypeError or ValueError when the value does not fit the dtype.
        """
        self.numpy()[...] = values.one(value, self.dtype)

    def zero_(self) -> None:
        """Set every element to zero."""
        self.numpy()[...] = 0

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        return self.numpy()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.numpy()[key] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numpy())

    def __repr__(self) -> str:
        shown = np.array2string(self.numpy(), separator=", ", prefix="array(")
        return f"array({shown}, dtype={self.dtype!r})"


def element_of(native: _native.Array | _native.Cell) -> dtypes.Element:
    """Look up the element type behind the code and components that C stores."""
    return _ELEMENTS[native.code, native.components]


def extents(shape: Shape) -> tuple[int, ...]:
    """Read a shape, an int or a sequence of ints, as a tuple.

    Raises TypeError for anything else, ValueError for a negative extent or more dimensions than four.
    """
    try:
        found = tuple(operator.index(n) for n in (shape if isinstance(shape, Sequence) else (shape,)))
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None
    if not 1 <= len(found) <= 4 or min(found) < 0:
        raise ValueError(f"shape {shape!r}: an array has 1 to 4 dimensions, each 0 or more")
    return found


def wrap(memory: Any, dtype: dtypes.Element, shape: tuple[int, ...]) -> Array:
    """Make an array over exactly the bytes of a C-contiguous buffer; no copy, and the buffer is kept.

    Raises ValueError when the size or alignment of the memory does not fit.
    """
    return Array(memory, dtype.scalar.code, dtype.length, shape)


def array(data: Any, dtype: object = None, *, copy: bool = False, device: str | Device | None = None) -> Array:
    """Make an array of data.

    A numpy array shares its memory where dtype, C order and alignment fit, and is copied otherwise or when ``copy`` is
    set. Data for a vector dtype has the components as last axis: shape (n, 3) for ``vec3``. Without dtype numpy's own
    is taken, and for Python numbers f32, i32 or bool.
    Raises TypeError or ValueError when the values do not fit the dtype, DeviceError for an unknown device.
    """
    if isinstance(data, Array) and dtype is None:
        dtype = data.dtype
    element = dtypes.element(values.dtype_of(data) if dtype is None else dtype)
    given = values.many(data, element)
    shape = given.shape if isinstance(element, dtypes.Scalar) else given.shape[:-1]
    if not copy and given.flags.c_contiguous and given.flags.aligned:
        get_device(device)
        return wrap(given, element, extents(shape))
    made = empty(shape, element, device)
    made.numpy()[...] = given
    return made


def from_numpy(data: Numpy, dtype: object = None, device: str | Device | None = None) -> Array:
    """Make an array that shares a numpy array's memory where it can; as ``sn.array(data, dtype)``."""
    if not isinstance(data, np.ndarray):
        raise TypeError(f"from_numpy takes a numpy array, not {type(data).__name__}; sn.array takes any values")
    return array(data, dtype, device=device)


def _allocate(shape: Shape, dtype: object, device: str | Device | None, zeroed: bool) -> Array:
    element, counts = dtypes.element(dtype), extents(shape)
    return wrap(get_device(device).allocate(math.prod(counts) * element.size, zeroed), element, counts)


def zeros(shape: Shape, dtype: object = float, device: str | Device | None = None) -> Array:
    """Make an array of zeros, its memory aligned to 64 bytes."""
    return _allocate(shape, dtype, device, zeroed=True)


def empty(shape: Shape, dtype: object = float, device: str | Device | None = None) -> Array:
    """Make an array whose values are whatever the memory held, aligned to 64 bytes."""
    return _allocate(shape, dtype, device, zeroed=False)


def full(shape: Shape, value: ArrayLike, dtype: object = None, device: str | Device | None = None) -> Array:
    """Make an array of one value: a number, or for a vector dtype also its components.

    Without dtype the number's own is taken: f32, i32 or bool for Python's.
    Raises TypeError or ValueError when the value does not fit.
    """
    made = empty(shape, values.dtype_of(value) if dtype is None else dtype, device)
    made.fill_(value)
    return made


def ones(shape: Shape, dtype: object = float, device: str | Device | None = None) -> Array:
    """Make an array of ones."""
    return full(shape, True, dtype, device)
