"""Matrices: transposes, outer products, determinants, inverses. Sums run from the first term to the last."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import Matrix, Vector
from sim_node.lang.builtins import vector
from sim_node.lang.func import func
from sim_node.lang.hosted import type_of
from sim_node.lang.library.vector import cross, dot
from sim_node.lang.static import static

# Annotations of matrices of a size, and of any size, whatever they are made of.
_2x2, _3x3, _4x4 = (Matrix(Any, n, n) for n in (2, 3, 4))
_MATRIX, _VECTOR = Matrix(Any, Any, Any), Vector(Any, Any)


@func
def transpose(a: _MATRIX) -> Any:
    """Swap rows and columns."""
    kind = type_of(a)
    turned = static(kind.matrix(kind.cols, kind.rows))()
    for i in range(kind.rows):
        for j in range(kind.cols):
            turned[j, i] = a[i, j]
    return turned


@func
def outer(a: _VECTOR, b: _VECTOR) -> Any:
    """Column a times row b."""
    rows, cols = type_of(a), type_of(b)
    made = static(rows.matrix(rows.length, cols.length))()
    for i in range(rows.length):
        for j in range(cols.length):
            made[i, j] = a[i] * b[j]
    return made


@func
def skew(vec: Any) -> Any:
    """The matrix by which a product is the cross product from the left."""
    kind, zero = type_of(vec), vec[0] - vec[0]
    return static(kind.matrix(3, 3))(
        zero, -vec[2], vec[1],
        vec[2], zero, -vec[0],
        -vec[1], vec[0], zero,
    )  # fmt: skip


@func
def ddot(a: _MATRIX, b: _MATRIX) -> Any:
    """Sum of the products of the elements, row by row."""
    total = a[0, 0] * b[0, 0]
    kind = type_of(a)
    for k in range(1, kind.length):
        total += a[k // kind.cols, k % kind.cols] * b[k // kind.cols, k % kind.cols]
    return total


@func
def trace(a: _MATRIX) -> Any:
    """Sum of the diagonal."""
    total = a[0, 0]
    for k in range(1, len(a)):
        total += a[k, k]
    return total


@func
def diag(vec: _VECTOR) -> Any:
    """The matrix with this diagonal and zeros around it."""
    kind = type_of(vec)
    made = static(kind.matrix(kind.length, kind.length))()
    for k in range(kind.length):
        made[k, k] = vec[k]
    return made


@func
def get_diag(mat: _MATRIX) -> Any:
    """The diagonal as a vector."""
    kind = type_of(mat)
    made = static(kind.vector(kind.rows))()
    for k in range(kind.rows):
        made[k] = mat[k, k]
    return made


@func
def determinant(a: _2x2) -> Any:
    """Determinant."""
    return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]


@func
def determinant(a: _3x3) -> Any:
    """Determinant: the first row times the cross product of the others."""
    return dot(a[0], cross(a[1], a[2]))


@func
def minors(top: Any, bottom: Any) -> Any:
    """Determinants of the pairs of columns 01 02 03 12 13 23 of two rows of four."""
    return vector(
        top[0] * bottom[1] - top[1] * bottom[0], top[0] * bottom[2] - top[2] * bottom[0],
        top[0] * bottom[3] - top[3] * bottom[0], top[1] * bottom[2] - top[2] * bottom[1],
        top[1] * bottom[3] - top[3] * bottom[1], top[2] * bottom[3] - top[3] * bottom[2],
    )  # fmt: skip


@func
def determinant(a: _4x4) -> Any:
    """Determinant, by the minors of the upper and the lower rows (Laplace)."""
    s, c = minors(a[0], a[1]), minors(a[2], a[3])
    return s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0]


@func
def inverse(a: _2x2) -> Any:
    """Inverse; zeros where the determinant is 0."""
    size = determinant(a)
    if size == 0.0:
        return a - a
    return type_of(a)(a[1, 1], -a[0, 1], -a[1, 0], a[0, 0]) / size


@func
def inverse(a: _3x3) -> Any:
    """Inverse; zeros where the determinant is 0."""
    size = determinant(a)
    if size == 0.0:
        return a - a
    x, y, z = cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])
    return type_of(a)(x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]) / size


@func
def inverse(a: _4x4) -> Any:
    """Inverse; zeros where the determinant is 0."""
    s, c = minors(a[0], a[1]), minors(a[2], a[3])
    size = s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0]
    if size == 0.0:
        return a - a
    p, q, r, t = a[0], a[1], a[2], a[3]
    return type_of(a)(
        q[1] * c[5] - q[2] * c[4] + q[3] * c[3], -p[1] * c[5] + p[2] * c[4] - p[3] * c[3],
        t[1] * s[5] - t[2] * s[4] + t[3] * s[3], -r[1] * s[5] + r[2] * s[4] - r[3] * s[3],
        -q[0] * c[5] + q[2] * c[2] - q[3] * c[1], p[0] * c[5] - p[2] * c[2] + p[3] * c[1],
        -t[0] * s[5] + t[2] * s[2] - t[3] * s[1], r[0] * s[5] - r[2] * s[2] + r[3] * s[1],
        q[0] * c[4] - q[1] * c[2] + q[3] * c[0], -p[0] * c[4] + p[1] * c[2] - p[3] * c[0],
        t[0] * s[4] - t[1] * s[2] + t[3] * s[0], -r[0] * s[4] + r[1] * s[2] - r[3] * s[0],
        -q[0] * c[3] + q[1] * c[1] - q[2] * c[0], p[0] * c[3] - p[1] * c[1] + p[2] * c[0],
        -t[0] * s[3] + t[1] * s[1] - t[2] * s[0], r[0] * s[3] - r[1] * s[1] + r[2] * s[0],
    ) / size  # fmt: skip
