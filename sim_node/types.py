"""Types made of others, and questions about types, under the names of Warp's module ``types``.

``sn.types.vector(length=5, dtype=sn.float64)``, ``sn.types.matrix(shape=(3, 2), dtype=float)``. Equal types are one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from sim_node import dtypes
from sim_node.dtypes import Matrix, Quaternion, Scalar, Struct, Transform, Vector
from sim_node.lang import values  # noqa: F401 - what makes values of the types

__all__ = [
    "matrix", "quaternion", "transformation", "type_is_float", "type_is_int", "type_is_matrix", "type_is_quaternion",
    "type_is_scalar", "type_is_struct", "type_is_transformation", "type_is_vector", "type_repr", "type_size",
    "type_size_in_bytes", "types_equal", "vector",
]  # fmt: skip

types = sys.modules[__name__]  # as an attribute of the package

_vector, _matrix, _quaternion, _transform = cache(Vector), cache(Matrix), cache(Quaternion), cache(Transform)


def _scalar(dtype: object) -> Any:
    """A scalar type, or what an annotation leaves open."""
    try:
        found = dtypes.element(dtype)
    except TypeError:
        return dtype
    if not isinstance(found, Scalar):
        raise TypeError(f"{found!r} is no scalar type: vectors and their kin are made of scalars")
    return found


def _extent(extent: Any, what: str) -> Any:
    if isinstance(extent, int) and extent < 0:
        raise ValueError(f"the {what} is no negative number, and {extent} is")
    return extent


def vector(length: Any, dtype: object) -> Vector:
    """Give the vector type of so many numbers.

    In an annotation both may be ``Any``, and the dtype ``sn.Float`` or its kin. Raises TypeError for a dtype that is no
    scalar, ValueError for a negative length.
    """
    return _vector(_scalar(dtype), _extent(length, "length"))


def matrix(shape: Sequence[Any], dtype: object) -> Matrix:
    """Give the matrix type of so many rows and columns; raises as ``vector``, and ValueError for another shape."""
    if len(shape) != 2:
        count = f"{len(shape)} dimension{'s' * (len(shape) != 1)}"
        raise ValueError(f"Matrix shape must have exactly two dimensions, got {count} in shape {tuple(shape)}")
    rows, cols = (_extent(extent, "number of rows and columns") for extent in shape)
    return _matrix(_scalar(dtype), rows, cols)


def quaternion(dtype: object = float) -> Quaternion:
    """Give the type of quaternions of a scalar type; raises as ``vector``."""
    return _quaternion(_scalar(dtype))


def transformation(dtype: object = float) -> Transform:
    """Give the type of transforms of a scalar type; raises as ``vector``."""
    return _transform(_scalar(dtype))


def _resolved(dtype: object) -> Any:
    try:
        return dtypes.element(getattr(dtype, "_type", dtype))  # the class of a value of the host has its type
    except TypeError:
        return dtype


def types_equal(a: object, b: object) -> bool:
    """Say whether two types are the same; Python's own mean those of the language."""
    return bool(_resolved(a) == _resolved(b))


def type_repr(dtype: object) -> str:
    """Say how a type prints."""
    return repr(_resolved(dtype))


def type_size(dtype: object) -> int:
    """Count the numbers in a value of a type; raises TypeError for what is no type."""
    found = dtypes.element(dtype)
    return 1 if isinstance(found, Struct) else found.length


def type_size_in_bytes(dtype: object) -> int:
    """Count the bytes of a value of a type; raises TypeError for what is no type."""
    return dtypes.element(dtype).size


def _is(dtype: object, *kinds: type) -> bool:
    return isinstance(_resolved(dtype), kinds)


def type_is_int(dtype: object) -> bool:
    """Say whether a type is a scalar of integers."""
    return _is(dtype, Scalar) and _resolved(dtype).is_integer


def type_is_float(dtype: object) -> bool:
    """Say whether a type is a scalar of floating point."""
    return _is(dtype, Scalar) and _resolved(dtype).is_float


def type_is_scalar(dtype: object) -> bool:
    """Say whether a type is a scalar."""
    return _is(dtype, Scalar)


def type_is_vector(dtype: object) -> bool:
    """Say whether a type is a vector."""
    return _is(dtype, Vector)


def type_is_matrix(dtype: object) -> bool:
    """Say whether a type is a matrix."""
    return _is(dtype, Matrix)


def type_is_quaternion(dtype: object) -> bool:
    """Say whether a type is a quaternion."""
    return _is(dtype, Quaternion)


def type_is_transformation(dtype: object) -> bool:
    """Say whether a type is a transform."""
    return _is(dtype, Transform)


def type_is_struct(dtype: object) -> bool:
    """Say whether a type is a struct."""
    return _is(dtype, Struct)
