"""Values that users give for the fields of a layout, made into the field's bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sim_node.errors import PlantError
from sim_node.layout import Field, Layout


def array_of(field: Field, value: Any) -> np.ndarray[Any, Any]:
    """Make a new array of a field's dtype and shape; a number, or the components of one vector, fill it.

    An array of the field's own dtype keeps its bits. Raises PlantError when the value does not fit.
    """
    scalar = field.element.scalar
    try:
        given = np.asarray(value)
        both_integers = given.dtype.kind in "iu" and scalar.is_integer
        if both_integers and given.size:
            limits = np.iinfo(scalar.numpy)
            if int(given.min()) < limits.min or int(given.max()) > limits.max:
                raise ValueError(f"it is not in {limits.min} … {limits.max}")
        elif not np.can_cast(given.dtype, scalar.numpy, "same_kind"):
            raise TypeError(f"{given.dtype} would lose digits")
        with np.errstate(over="raise"):
            converted = given.astype(scalar.numpy)
        return np.array(np.broadcast_to(converted, field.numpy_shape), order="C")
    except (TypeError, ValueError, OverflowError, FloatingPointError) as fault:
        shown = repr(value) if np.size(value) <= 8 else f"an array of shape {np.shape(value)}"
        raise PlantError(
            f"'{field.name}' takes {field.element!r} of shape {field.numpy_shape}, not {shown}: {fault}"
        ) from None


def pack(layout: Layout, values: Mapping[str, Any]) -> bytes:
    """Lay values out as the layout says, zeros between the fields.

    Raises PlantError when a value does not fit, KeyError when one is missing.
    """
    memory = bytearray(layout.size)
    for field in layout:
        field.view(memory)[...] = array_of(field, values[field.name])
    return bytes(memory)


def unpack(field: Field, memory: bytes, offset: int = 0) -> np.ndarray[Any, Any]:
    """Copy a field's value out of bytes where it begins at ``offset``."""
    flat: np.ndarray[Any, Any] = np.frombuffer(memory, field.element.numpy, field.count * field.element.length, offset)
    return np.array(flat.reshape(field.numpy_shape))


def rows_of(field: Field, memory: bytes, count: int) -> np.ndarray[Any, Any]:
    """View bytes of ``count`` values of a field, one behind the other."""
    return np.frombuffer(memory, field.element.numpy).reshape(count, *field.numpy_shape)
