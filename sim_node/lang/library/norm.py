"""Norms of vectors beyond the Euclidean one."""

from __future__ import annotations

from typing import Any

from sim_node.lang.builtins import abs_, sqrt
from sim_node.lang.func import func
from sim_node.lang.library.vector import dot, length


@func
def norm_l1(v: Any) -> Any:
    """Sum of the components' magnitudes."""
    total = abs_(v[0])
    for k in range(1, len(v)):
        total += abs_(v[k])
    return total


@func
def norm_l2(v: Any) -> Any:
    """Euclidean length."""
    return length(v)


@func
def norm_huber(v: Any, delta: Any = 1.0) -> Any:
    """Huber's loss of the length: half its square up to delta, linear beyond."""
    square = dot(v, v)
    return 0.5 * square if square <= delta * delta else delta * (sqrt(square) - 0.5 * delta)


@func
def norm_pseudo_huber(v: Any, delta: Any = 1.0) -> Any:
    """A smooth norm: ``delta * sqrt(1 + (length / delta)²)``."""
    return delta * sqrt(1.0 + dot(v, v) / (delta * delta))


@func
def smooth_normalize(v: Any, delta: Any = 1.0) -> Any:
    """Divide by the pseudo-Huber norm, which is never 0."""
    return v / norm_pseudo_huber(v, delta)
