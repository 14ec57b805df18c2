"""Conversion of array-like values to a dtype of the kernel language, refusing what would lose them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sim_node import _native, dtypes
from sim_node.device.names import DEFAULT, Device
from sim_node.lang.values.structure import refers
from sim_node.runtime.element import STRUCT, native

Numpy = np.ndarray[Any, Any]

# A Python number means in an array what it means in a kernel.
_BY_KIND = {"b": dtypes.bool_, "i": dtypes.int32, "f": dtypes.float32}


def dtype_of(data: Any) -> Any:
    """Choose the dtype of values given without one: their own where they have one, else f32, i32 or bool.

    Raises TypeError when the kernel language has no such type.
    """
    first = data
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if hasattr(first, "_type"):
        return first._type
    found = np.asarray(data).dtype
    if not hasattr(data, "dtype") and not hasattr(first, "dtype") and found.kind in _BY_KIND:
        return _BY_KIND[found.kind]
    return dtypes.element(found)


def dtype_of_one(value: Any) -> Any:
    """Choose the dtype of one value given without: as ``dtype_of``, of a row of numbers a vector, of rows a matrix."""
    found, shape = dtype_of(value), np.shape(value)
    if not isinstance(found, dtypes.Scalar) or not 1 <= len(shape) <= 2:
        return found
    return dtypes.Vector(found, *shape) if len(shape) == 1 else dtypes.Matrix(found, *shape)


def numbers(data: Any, scalar: dtypes.Scalar) -> Numpy:
    """Convert numbers to a scalar type, keeping their shape; values of that type are not copied.

    Floats may be rounded and integers may become floats. Raises TypeError where a conversion would drop more of a value
    than that, ValueError where one is out of range.
    """
    given = np.asarray(data)
    to = scalar.numpy
    if given.size == 0 and not hasattr(data, "dtype"):
        return np.zeros(given.shape, to)  # an empty list has no type of its own
    if given.dtype == to:
        return given
    both_integers = given.dtype.kind in "iu" and scalar.is_integer
    if not both_integers and not np.can_cast(given.dtype, to, "same_kind"):
        return _exactly(given, scalar)
    if both_integers and given.size:
        limits = np.iinfo(to)
        low, high = int(given.min()), int(given.max())
        if low < limits.min or high > limits.max:
            raise ValueError(f"values from {low} to {high} do not fit {scalar!r}, {limits.min} to {limits.max}")
    try:
        with np.errstate(over="raise"):
            return given.astype(to)
    except FloatingPointError:
        raise ValueError(f"values do not fit {scalar!r}, whose largest is {np.finfo(to).max}") from None


def _exactly(given: Numpy, scalar: dtypes.Scalar) -> Numpy:
    """Convert numbers to a kind that does not hold all of their kind, if it holds these."""
    if given.dtype.kind not in "biuf":
        raise TypeError(f"cannot make {scalar!r} of {given.dtype} without loss")
    with np.errstate(invalid="ignore"):
        converted = given.astype(scalar.numpy)
    if scalar.numpy.kind == "b":
        return converted  # a number is true or not, as Python has it
    lost = converted != given
    if lost.any():
        first = given[lost].flat[0] if given.ndim else given[()]
        raise TypeError(
            f"cannot make {scalar!r} of {given.dtype} {first} without loss; convert it first, with numpy's astype"
        )
    return converted


def many(data: Any, dtype: Any, device: Device = DEFAULT) -> tuple[Numpy, list[Any]]:
    """Convert the values of an array, and what keeps the arrays that structs among them refer to.

    The components of an element are the last axes, or those of one or more stand in a row, the last axis. The device is
    that of the array, and of the arrays that structs refer to. Raises TypeError or ValueError as ``numbers`` does, and
    ValueError where the shape is none of an array.
    """
    element = native(dtype)
    if element.code == STRUCT:
        return _records(data, element, device)
    given, axes = numbers(data, dtype.scalar), element.axes
    if axes:
        return _elements(given, dtype, axes), []
    if given.ndim == 0:
        raise ValueError(f"an array needs a sequence of values, not {data!r}; for one element write [{data!r}]")
    return given, []


def _elements(given: Numpy, dtype: Any, axes: tuple[int, ...]) -> Numpy:
    """Numbers as elements with axes of their own."""
    if given.shape == axes:
        return given[np.newaxis]
    if given.shape[-len(axes) :] == axes:
        return given
    size = math.prod(axes)
    if given.ndim == 0 or given.shape[-1] % size:
        inner = ", ".join(map(str, axes))
        raise ValueError(f"an array of {dtype!r} needs values of shape (n, {inner}), not {given.shape}")
    rows = given.shape[:-1] if given.ndim > 1 and given.shape[-1] == size else (*given.shape[:-1], -1)
    made: Numpy = given.reshape(*rows, *axes)
    return made


def one(value: Any, dtype: Any, device: Device = DEFAULT) -> tuple[Numpy, list[Any]]:
    """Convert the value of one element, and what keeps the arrays that it refers to.

    A number stands for every component; the device is as for ``many``. Raises TypeError or ValueError as
    ``numbers`` does, and ValueError where the shape does not fit.
    """
    element = native(dtype)
    if element.code == STRUCT:
        return _record(value, element, device)
    own = getattr(value, "_type", dtype)
    if own != dtype:
        raise TypeError(f"expected a {dtype!r}, got a {own!r}")
    given = numbers(value, dtype.scalar)
    if given.ndim and given.shape != element.axes:
        if given.size != np.prod(element.axes, dtype=int) or not element.axes:
            raise ValueError(f"one {dtype!r} has not the shape {given.shape}")
        given = given.reshape(element.axes)
    return given, []


def _record(value: Any, element: _native.Element, device: Device) -> tuple[Numpy, list[Any]]:
    if isinstance(value, (int, np.integer)) and value == 0:
        return np.zeros((), element.numpy), []
    try:
        packed, kept = element.pack(value, device if device.is_cuda else None)
    except _native.Refusal as refusal:
        where = f"; the array is in the memory of {device}" if refusal.args[1] == "device" else ""
        raise TypeError(f"{value!r} is no {element.dtype!r}: a field or the value itself has the wrong "
                        f"{refusal.args[1]}{where}") from None  # fmt: skip
    return np.frombuffer(bytearray(packed), element.numpy)[0:1].reshape(()), [] if kept is None else [kept]


def _records(data: Any, element: _native.Element, device: Device) -> tuple[Numpy, list[Any]]:
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        given = np.asarray(data)
        if given.dtype != element.numpy:
            raise TypeError(f"cannot make {element.dtype!r} of {given.dtype}; its numpy dtype is {element.numpy}")
        if isinstance(data, (_native.Array, _native.Indexed)):
            source: Any = data
            if refers(element.dtype) and source.device is not (device if device.is_cuda else DEFAULT):
                raise TypeError(
                    f"{element.dtype!r} refers to arrays in the memory of {source.device}, which {device} does not "
                    "read; make the arrays there, and structs that refer to them"
                )
            return given, list(source._kept)
        return given, []
    shape, items = _nested(data)
    made, kept = np.zeros(len(items), element.numpy), []
    for at, item in enumerate(items):
        made[at], keeps = _record(item, element, device)
        kept += keeps
    return made.reshape(shape), kept


def _nested(data: Any) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists, and what they hold in order."""
    if not isinstance(data, list):
        raise ValueError(f"an array of structs needs a list of them, not {data!r}")
    if not data or not isinstance(data[0], list):
        return (len(data),), data
    parts = [_nested(part) for part in data]
    if any(shape != parts[0][0] for shape, _ in parts):
        raise ValueError("the lists of structs have different lengths")
    return (len(parts), *parts[0][0]), [item for _, items in parts for item in items]
