"""Conversion of array-like values to a dtype of the kernel language, refusing what would lose them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node import dtypes

Numpy = np.ndarray[Any, Any]

# A Python number means in an array what it means in a kernel.
_BY_KIND = {"b": dtypes.bool_, "i": dtypes.int32, "f": dtypes.float32}


def dtype_of(data: Any) -> dtypes.Scalar:
    """Choose the dtype of values given without one: numpy's own where they have one, else f32, i32 or bool.

    Raises TypeError when the kernel language has no such type.
    """
    found = np.asarray(data).dtype
    if not hasattr(data, "dtype") and found.kind in _BY_KIND:
        return _BY_KIND[found.kind]
    return dtypes.element(found).scalar


def numbers(data: Any, scalar: dtypes.Scalar) -> Numpy:
    """Convert numbers to a scalar type, keeping their shape; values of that type are not copied.

    Floats may be rounded and integers may become floats. Raises TypeError where a conversion would drop more than
    that, ValueError where a value is out of range.
    """
    given = np.asarray(data)
    to = scalar.numpy
    if given.size == 0 and not hasattr(data, "dtype"):
        return np.zeros(given.shape, to)  # an empty list has no type of its own
    if given.dtype == to:
        return given
    both_integers = given.dtype.kind in "iu" and scalar.is_integer
    if not both_integers and not np.can_cast(given.dtype, to, "same_kind"):
        raise TypeError(f"cannot make {scalar!r} of {given.dtype} without loss; convert it first, with numpy's astype")
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


def many(data: Any, dtype: dtypes.Element) -> Numpy:
    """Convert the values of an array; the components of a vector are the last axis.

    Raises TypeError or ValueError as ``numbers`` does, and ValueError where the shape is none of an array.
    """
    given = numbers(data, dtype.scalar)
    if isinstance(dtype, dtypes.Vector):
        if given.shape == (0,):
            return given.reshape(0, dtype.length)
        if given.ndim < 2 or given.shape[-1] != dtype.length:
            raise ValueError(f"an array of {dtype!r} needs values of shape (n, {dtype.length}), not {given.shape}")
    if given.ndim == 0:
        raise ValueError(f"an array needs a sequence of values, not {data!r}; for one element write [{data!r}]")
    return given


def one(value: Any, dtype: dtypes.Element) -> Numpy:
    """Convert the value of one element: a number, or for a vector also its components.

    Raises TypeError or ValueError as ``numbers`` does, and ValueError where the shape does not fit.
    """
    given = numbers(value, dtype.scalar)
    if given.ndim and (isinstance(dtype, dtypes.Scalar) or given.shape != (dtype.length,)):
        raise ValueError(f"one {dtype!r} has not the shape {given.shape}")
    return given
