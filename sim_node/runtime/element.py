"""Element types as C knows them: one object for each type of the kernel language, so that C compares addresses."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sim_node import _native, dtypes
from sim_node.lang.values.structure import memory_type

STRUCT = 255  # the code of what is not of one scalar


@cache
def native(dtype: Any) -> _native.Element:
    """The C side of an element type; equal types have the same one."""
    fields = getattr(dtype, "fields", None)
    if fields is not None:
        numpy = memory_type(dtype)
        rows = tuple(row(name, _inside(type_)) for name, type_ in fields)
        return _native.Element(
            dtype, STRUCT, dtype.size, dtype.align, (), rows, numpy, record_format(numpy)
        )  # fmt: skip
    if not hasattr(dtype, "scalar"):
        raise TypeError(f"{dtype!r} is no element type")
    scalar = dtype.scalar
    return _native.Element(dtype, scalar.code, dtype.size, scalar.size, axes(dtype), (), scalar.numpy, b"")


def axes(dtype: Any) -> tuple[int, ...]:
    """The axes that numpy shows an element of one scalar type as: rows and columns of a matrix, else its components."""
    if dtype.scalar is dtype:
        return ()
    rows = getattr(dtype, "rows", None)
    return (dtype.size // dtype.scalar.size,) if rows is None else (rows, dtype.cols)


def _inside(type_: Any) -> Any:
    """The type of a field: an array in a struct has strides, whatever it is annotated as."""
    if isinstance(type_, dtypes.ArrayType) and type_.layout == dtypes.LAYOUTS[0]:
        return dtypes.ArrayType(type_.dtype, type_.ndim, dtypes.LAYOUTS[1])
    return type_


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
