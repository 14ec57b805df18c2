"""Functions of short vectors, written in the kernel language. Sums run from the first component to the last."""

from __future__ import annotations

from typing import Any

from sim_node.lang.builtins import sqrt, vector
from sim_node.lang.func import func


@func
def dot(a: Any, b: Any) -> Any:
    """Scalar product of two vectors of one type."""
    # The length of a vector is known when the func is compiled, so only the lines that apply are.
    total = a[0] * b[0] + a[1] * b[1]
    if len(a) > 2:
        total += a[2] * b[2]
    if len(a) > 3:
        total += a[3] * b[3]
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
