"""Functions of vectors, written in the kernel language. Sums run from the first component to the last."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import Matrix, Quaternion, uint32
from sim_node.lang.builtins import sqrt, vector
from sim_node.lang.func import func
from sim_node.lang.hosted import type_of
from sim_node.lang.library.elementary import div

_MATRIX, _QUATERNION = Matrix(Any, Any, Any), Quaternion(Any)


@func
def dot(a: Any, b: Any) -> Any:
    """Scalar product of two vectors of one type."""
    total = a[0] * b[0]
    for k in range(1, len(a)):
        total += a[k] * b[k]
    return total


@func
def cross(a: Any, b: Any) -> Any:
    """Vector product of two vectors of three components."""
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@func
def length_sq(v: Any) -> Any:
    """Squared Euclidean length."""
    return dot(v, v)


@func
def length(v: Any) -> Any:
    """Euclidean length; no scaling, so squares may overflow or vanish."""
    return sqrt(dot(v, v))


@func
def normalize(v: Any) -> Any:
    """Scale the vector to length 1; a vector of length zero stays zero."""
    size = length(v)
    return v - v if size == 0.0 else v / size


@func
def normalize(q: _QUATERNION) -> Any:
    """Scale the quaternion to length 1; one of length zero becomes the rotation that changes nothing."""
    size = length(q)
    return type_of(q)(0.0, 0.0, 0.0, 1.0) if size == 0.0 else q / size


@func
def cw_mul(a: Any, b: Any) -> Any:
    """Multiply component by component."""
    product = +a
    for k in range(len(a)):
        product[k] = a[k] * b[k]
    return product


@func
def cw_mul(a: _MATRIX, b: _MATRIX) -> Any:
    """Multiply element by element."""
    product = +a
    for i in range(len(a)):
        for j in range(len(a[0])):
            product[i, j] = a[i, j] * b[i, j]
    return product


@func
def cw_div(a: Any, b: Any) -> Any:
    """Divide component by component, integers towards zero."""
    quotient = +a
    for k in range(len(a)):
        quotient[k] = div(a[k], b[k])
    return quotient


@func
def cw_div(a: _MATRIX, b: _MATRIX) -> Any:
    """Divide element by element, integers towards zero."""
    quotient = +a
    for i in range(len(a)):
        for j in range(len(a[0])):
            quotient[i, j] = div(a[i, j], b[i, j])
    return quotient


@func
def argmin(v: Any) -> uint32:
    """Which component is the least; the first of those that are."""
    least, at = v[0], uint32(0)
    for k in range(1, len(v)):
        if v[k] < least:
            least, at = v[k], uint32(k)
    return at


@func
def argmax(v: Any) -> uint32:
    """Which component is the greatest; the first of those that are."""
    greatest, at = v[0], uint32(0)
    for k in range(1, len(v)):
        if v[k] > greatest:
            greatest, at = v[k], uint32(k)
    return at
