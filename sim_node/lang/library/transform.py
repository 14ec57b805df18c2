"""Rigid transforms: a translation p (x, y, z) and a rotation q; points are rotated first."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import Matrix, Quaternion, Transform, Vector, element, float32
from sim_node.lang.builtins import sqrt, vector
from sim_node.lang.func import func
from sim_node.lang.hosted import type_of
from sim_node.lang.library.quaternion import (
    quat_from_matrix,
    quat_inverse,
    quat_rotate,
    quat_to_matrix,
)
from sim_node.lang.library.vector import dot
from sim_node.lang.static import static

_TRANSFORM, _VECTOR, _QUATERNION, _MATRIX = Transform(Any), Vector(Any, 3), Quaternion(Any), Matrix(Any, 4, 4)


@func
def rigid(p: _VECTOR, q: _QUATERNION) -> Any:
    """The transform of a translation and a rotation."""
    kind = type_of(p)
    return static(Transform(kind.scalar))(p[0], p[1], p[2], q[0], q[1], q[2], q[3])


@func
def transform_get_translation(xform: _TRANSFORM) -> Any:
    """The translation."""
    return vector(xform[0], xform[1], xform[2])


@func
def transform_get_rotation(xform: _TRANSFORM) -> Any:
    """The rotation."""
    kind = type_of(xform)
    return static(Quaternion(kind.scalar))(xform[3], xform[4], xform[5], xform[6])


@func
def transform_inverse(xform: _TRANSFORM) -> Any:
    """The transform back."""
    q = quat_inverse(transform_get_rotation(xform))
    return rigid(-quat_rotate(q, transform_get_translation(xform)), q)


@func
def transform_point(xform: _TRANSFORM, point: _VECTOR) -> Any:
    """Rotate a point, and move it."""
    return transform_get_translation(xform) + quat_rotate(transform_get_rotation(xform), point)


@func
def transform_point(mat: _MATRIX, point: _VECTOR) -> Any:
    """A matrix times a point, whose fourth coordinate is 1."""
    x, y, z = mat[0], mat[1], mat[2]
    return vector(row_times(x, point) + x[3], row_times(y, point) + y[3], row_times(z, point) + z[3])


@func
def row_times(row: Any, vec: Any) -> Any:
    """The first three numbers of a row times a vector."""
    return row[0] * vec[0] + row[1] * vec[1] + row[2] * vec[2]


@func
def transform_vector(xform: _TRANSFORM, vec: _VECTOR) -> Any:
    """Rotate a vector."""
    return quat_rotate(transform_get_rotation(xform), vec)


@func
def transform_vector(mat: _MATRIX, vec: _VECTOR) -> Any:
    """A matrix times a vector, whose fourth coordinate is 0."""
    return vector(row_times(mat[0], vec), row_times(mat[1], vec), row_times(mat[2], vec))


@func
def transform_compose(position: _VECTOR, rotation: _QUATERNION, scale: _VECTOR) -> Any:
    """The matrix that scales along the axes, rotates and moves."""
    kind = type_of(position)
    made, axes = static(kind.matrix(4, 4))(), quat_to_matrix(rotation)
    for i in range(3):
        for j in range(3):
            made[i, j] = scale[j] * axes[i, j]
        made[i, 3] = position[i]
    made[3, 3] = 1.0
    return made


@func
def transform_to_matrix(xform: _TRANSFORM) -> Any:
    """The matrix that does the same."""
    p = transform_get_translation(xform)
    return transform_compose(p, transform_get_rotation(xform), p - p + type_of(p)(1.0))


@func
def transform_from_matrix(mat: _MATRIX) -> Any:
    """The transform that a matrix is which rotates and moves."""
    return rigid(vector(mat[0, 3], mat[1, 3], mat[2, 3]), quat_from_matrix(mat))


@func
def transform_decompose(m: _MATRIX) -> Any:
    """Position, rotation and scale of a matrix: the inverse of ``transform_compose``."""
    kind = type_of(m)
    axes, scale = static(kind.matrix(3, 3))(), static(kind.vector(3))()
    for j in range(3):
        column = vector(m[0, j], m[1, j], m[2, j])
        scale[j] = sqrt(dot(column, column))
        for i in range(3):
            axes[i, j] = column[i] / scale[j] if scale[j] != 0.0 else column[i]
    return vector(m[0, 3], m[1, 3], m[2, 3]), quat_from_matrix(axes), scale


@func
def transform_identity(dtype: Any = float32) -> Any:
    """The transform that changes nothing, of numbers of a type."""
    return static(Transform(element(dtype)))(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@func(changes=("xform",))
def transform_set_translation(xform: _TRANSFORM, p: _VECTOR) -> Any:
    """Replace the translation."""
    return rigid(p, transform_get_rotation(xform))


@func(changes=("xform",))
def transform_set_rotation(xform: _TRANSFORM, q: _QUATERNION) -> Any:
    """Replace the rotation."""
    return rigid(transform_get_translation(xform), q)
