"""Decompositions of small matrices by rotations: singular values, eigenvalues, and rotation times triangle.

Each is a fixed number of rotations in a fixed order, so that no test for convergence can end differently elsewhere.
Golub, Van Loan, 2013, "Matrix Computations", 5.2, 8.5, 8.6.3.
"""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import Matrix, Vector
from sim_node.lang.builtins import abs_, matrix_from_cols, sqrt, vector
from sim_node.lang.func import func
from sim_node.lang.hosted import type_of
from sim_node.lang.library.vector import cross, dot, length

_2x2, _3x3, _2, _3 = Matrix(Any, 2, 2), Matrix(Any, 3, 3), Vector(Any, 2), Vector(Any, 3)
# Cyclic Jacobi converges quadratically: after so many rounds nothing is left that f64 could show.
_ROUNDS = 8


@func
def turn(a: Any, b: Any, between: Any) -> Any:
    """Cosine, sine and tangent of the rotation that makes the symmetric matrix (a, between; between, b) diagonal."""
    if between == 0.0:
        return vector(between + 1.0, between, between)
    cotangent = (b - a) / (2.0 * between)
    size = 1.0 / (abs_(cotangent) + sqrt(1.0 + cotangent * cotangent))
    tangent = -size if cotangent < 0.0 else size
    cosine = 1.0 / sqrt(1.0 + tangent * tangent)
    return vector(cosine, cosine * tangent, tangent)


@func
def apart(a: Any, b: Any) -> Any:
    """The rotation that makes two columns orthogonal."""
    return turn(dot(a, a), dot(b, b), dot(a, b))


@func
def unit_or(v: Any, other: Any) -> Any:
    """The vector at length 1, or another one where it is zero."""
    size = length(v)
    return other if size == 0.0 else v / size


@func
def across(v: Any) -> Any:
    """A unit vector orthogonal to a unit vector: across the axis from which that is farthest."""
    zero = v[0] - v[0]
    least = vector(zero + 1.0, zero, zero)
    if abs_(v[1]) < abs_(v[0]) and abs_(v[1]) <= abs_(v[2]):
        least = vector(zero, zero + 1.0, zero)
    elif abs_(v[2]) < abs_(v[0]):
        least = vector(zero, zero, zero + 1.0)
    side = cross(v, least)
    return side / length(side)


@func
def square(v: Any) -> Any:
    """The vector a quarter turn further."""
    return vector(-v[1], v[0])


@func
def svd2(A: _2x2) -> Any:
    """U, sigma, V with A = U · diag(sigma) · Vᵀ, U and V rotations; the second of sigma is the smaller."""
    a, b = vector(A[0, 0], A[1, 0]), vector(A[0, 1], A[1, 1])
    by = apart(a, b)
    a, b = by[0] * a - by[1] * b, by[1] * a + by[0] * b
    v, w = vector(by[0], -by[1]), vector(by[1], by[0])
    if dot(a, a) < dot(b, b):
        a, b, v, w = b, -a, w, -v
    first = unit_or(a, vector(by[0] - by[0] + 1.0, by[0] - by[0]))
    second = square(first)
    return matrix_from_cols(first, second), vector(length(a), dot(second, b)), matrix_from_cols(v, w)


@func(changes=("U", "sigma", "V"))
def svd2(A: _2x2, U: _2x2, sigma: _2, V: _2x2) -> Any:
    """``U, sigma, V = svd2(A)``."""
    return svd2(A)


@func
def svd3(A: _3x3) -> Any:
    """U, sigma, V with A = U · diag(sigma) · Vᵀ, U and V rotations.

    sigma falls, by magnitude; the last may be below 0. Rotations from the right make the columns orthogonal (Hestenes,
    1958, "Inversion of Matrices by Biorthogonalization and Related Results").
    """
    one = A[0, 0] - A[0, 0] + 1.0
    zero = one - 1.0
    a, b, c = vector(A[0, 0], A[1, 0], A[2, 0]), vector(A[0, 1], A[1, 1], A[2, 1]), vector(A[0, 2], A[1, 2], A[2, 2])
    u, v, w = vector(one, zero, zero), vector(zero, one, zero), vector(zero, zero, one)
    for _ in range(_ROUNDS):
        by = apart(a, b)
        a, b = by[0] * a - by[1] * b, by[1] * a + by[0] * b
        u, v = by[0] * u - by[1] * v, by[1] * u + by[0] * v
        by = apart(a, c)
        a, c = by[0] * a - by[1] * c, by[1] * a + by[0] * c
        u, w = by[0] * u - by[1] * w, by[1] * u + by[0] * w
        by = apart(b, c)
        b, c = by[0] * b - by[1] * c, by[1] * b + by[0] * c
        v, w = by[0] * v - by[1] * w, by[1] * v + by[0] * w
    if dot(a, a) < dot(b, b):
        a, b, u, v = b, -a, v, -u
    if dot(b, b) < dot(c, c):
        b, c, v, w = c, -b, w, -v
    if dot(a, a) < dot(b, b):
        a, b, u, v = b, -a, v, -u
    first = unit_or(a, vector(one, zero, zero))
    second = unit_or(b - dot(first, b) * first, across(first))
    third = cross(first, second)
    sigma = vector(length(a), dot(second, b), dot(third, c))
    return matrix_from_cols(first, second, third), sigma, matrix_from_cols(u, v, w)


@func(changes=("U", "sigma", "V"))
def svd3(A: _3x3, U: _3x3, sigma: _3, V: _3x3) -> Any:
    """``U, sigma, V = svd3(A)``."""
    return svd3(A)


@func
def onto_first(x: Any, y: Any) -> Any:
    """Cosine and sine of the rotation that takes (x, y) to (size, 0)."""
    size = sqrt(x * x + y * y)
    return vector(size - size + 1.0, size - size) if size == 0.0 else vector(x / size, y / size)


@func
def qr3(A: _3x3) -> Any:
    """Q and R with A = Q · R, Q a rotation and R upper triangular: three rotations of rows (Givens)."""
    one = A[0, 0] - A[0, 0] + 1.0
    zero = one - 1.0
    a, b, c = A[0], A[1], A[2]
    u, v, w = vector(one, zero, zero), vector(zero, one, zero), vector(zero, zero, one)
    by = onto_first(a[0], b[0])
    a, b = by[0] * a + by[1] * b, by[0] * b - by[1] * a
    u, v = by[0] * u + by[1] * v, by[0] * v - by[1] * u
    by = onto_first(a[0], c[0])
    a, c = by[0] * a + by[1] * c, by[0] * c - by[1] * a
    u, w = by[0] * u + by[1] * w, by[0] * w - by[1] * u
    by = onto_first(b[1], c[1])
    b, c = by[0] * b + by[1] * c, by[0] * c - by[1] * b
    v, w = by[0] * v + by[1] * w, by[0] * w - by[1] * v
    return matrix_from_cols(u, v, w), type_of(A)(
        a[0], a[1], a[2],
        zero, b[1], b[2],
        zero, zero, c[2],
    )  # fmt: skip


@func(changes=("Q", "R"))
def qr3(A: _3x3, Q: _3x3, R: _3x3) -> Any:
    """``Q, R = qr3(A)``."""
    return qr3(A)


@func
def eig3(A: _3x3) -> Any:
    """Q and d with A = Q · diag(d) · Qᵀ, Q a rotation, for a symmetric A, of which the upper half is read."""
    one = A[0, 0] - A[0, 0] + 1.0
    zero = one - 1.0
    a, b, c, ab, ac, bc = A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[0, 2], A[1, 2]
    u, v, w = vector(one, zero, zero), vector(zero, one, zero), vector(zero, zero, one)
    for _ in range(_ROUNDS):
        by = turn(a, b, ab)
        a, b, ab = a - by[2] * ab, b + by[2] * ab, zero
        ac, bc = by[0] * ac - by[1] * bc, by[1] * ac + by[0] * bc
        u, v = by[0] * u - by[1] * v, by[1] * u + by[0] * v
        by = turn(a, c, ac)
        a, c, ac = a - by[2] * ac, c + by[2] * ac, zero
        ab, bc = by[0] * ab - by[1] * bc, by[1] * ab + by[0] * bc
        u, w = by[0] * u - by[1] * w, by[1] * u + by[0] * w
        by = turn(b, c, bc)
        b, c, bc = b - by[2] * bc, c + by[2] * bc, zero
        ab, ac = by[0] * ab - by[1] * ac, by[1] * ab + by[0] * ac
        v, w = by[0] * v - by[1] * w, by[1] * v + by[0] * w
    return matrix_from_cols(u, v, w), vector(a, b, c)


@func(changes=("Q", "d"))
def eig3(A: _3x3, Q: _3x3, d: _3) -> Any:
    """``Q, d = eig3(A)``."""
    return eig3(A)
