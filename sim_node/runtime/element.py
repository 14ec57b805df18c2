"""Element types as C knows them: one object for each type of the kernel language, so that C compares addresses."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sim_node import _native, dtypes

STRUCT = 255  # the code of what is not of one scalar


@cache
def native(dtype: Any) -> _native.Element:
    """The C side of an element type; equal types have the same one."""
    if isinstance(dtype, dtypes.Scalar | dtypes.Vector):
        axes = (dtype.length,) if isinstance(dtype, dtypes.Vector) else ()
        scalar = dtype.scalar
        return _native.Element(dtype, scalar.code, dtype.size, scalar.size, axes, (), dtype.numpy, b"")
    raise TypeError(f"{dtype!r} is no element type")


def row(name: str, type_: Any, written: bool = False) -> tuple[str, int, int, _native.Element, bool]:
    """A parameter or field as C takes it: name, dimensions (0: by value), layout, element, whether it is written."""
    if isinstance(type_, dtypes.ArrayType):
        return name, type_.ndim, dtypes.LAYOUTS.index(type_.layout), native(type_.dtype), written
    return name, 0, 0, native(type_), written


def record_format(dtype: np.dtype[Any]) -> bytes:
    """The format of a structured numpy dtype in the buffer protocol, every byte of padding said.

    numpy's own leaves out the padding at the end of a struct inside another, and misreads it (numpy 2.4).
    """
    return b"^" + _format(dtype).encode()


def _format(dtype: np.dtype[Any]) -> str:
    if dtype.subdtype is not None:
        inner, shape = dtype.subdtype
        return f"({','.join(map(str, shape))}){_format(inner)}"
    if dtype.fields is None:
        return np.empty(0, dtype).data.format
    text, at = "T{", 0
    for name in dtype.names or ():
        kind, offset = dtype.fields[name][:2]
        text += "x" * (offset - at) + f"{_format(kind)}:{name}:"
        at = offset + kind.itemsize
    return text + "x" * (dtype.itemsize - at) + "}"
