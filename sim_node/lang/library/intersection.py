"""Which shapes meet, written in the kernel language."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import int32
from sim_node.lang.builtins import max_, min_
from sim_node.lang.func import func
from sim_node.lang.library.vector import cross, dot


@func
def apart(axis: Any, v1: Any, v2: Any, u0: Any, u1: Any, u2: Any) -> Any:
    """Say whether, seen along an axis, the triangle (0, v1, v2) has no point with (u0, u1, u2) in common."""
    a, b = dot(axis, v1), dot(axis, v2)
    c, d, e = dot(axis, u0), dot(axis, u1), dot(axis, u2)
    low, high = min_(min_(a, b), 0.0), max_(max_(a, b), 0.0)
    return max_(max_(c, d), e) < low or min_(min_(c, d), e) > high


@func
def apart_across(edge: Any, v1: Any, v2: Any, u0: Any, u1: Any, u2: Any) -> Any:
    """Say whether triangles are apart along an axis across an edge and one of the other triangle."""
    return (
        apart(cross(edge, u1 - u0), v1, v2, u0, u1, u2)
        or apart(cross(edge, u2 - u1), v1, v2, u0, u1, u2)
        or apart(cross(edge, u0 - u2), v1, v2, u0, u1, u2)
    )


@func
def apart_beside(normal: Any, v1: Any, v2: Any, u0: Any, u1: Any, u2: Any) -> Any:
    """Say whether triangles are apart along an axis in the plane of a normal, across an edge of either."""
    return (
        apart(cross(normal, v1), v1, v2, u0, u1, u2)
        or apart(cross(normal, v2), v1, v2, u0, u1, u2)
        or apart(cross(normal, v2 - v1), v1, v2, u0, u1, u2)
        or apart(cross(normal, u1 - u0), v1, v2, u0, u1, u2)
        or apart(cross(normal, u2 - u1), v1, v2, u0, u1, u2)
        or apart(cross(normal, u0 - u2), v1, v2, u0, u1, u2)
    )


@func
def intersect_tri_tri(v0: Any, v1: Any, v2: Any, u0: Any, u1: Any, u2: Any) -> int32:
    """Give 1 where two triangles have a point in common, also in one plane, else 0.

    Convex shapes are apart exactly where some axis separates them, which for triangles is a normal, across an edge of
    each, or in their plane across an edge (Gottschalk, Lin, Manocha 1996, "OBBTree"). Rounding decides on touching.
    """
    a, b, c, d, e = v1 - v0, v2 - v0, u0 - v0, u1 - v0, u2 - v0
    normal, other = cross(a, b), cross(d - c, e - c)
    if apart(normal, a, b, c, d, e) or apart(other, a, b, c, d, e):
        return 0
    if apart_across(a, a, b, c, d, e) or apart_across(b, a, b, c, d, e) or apart_across(b - a, a, b, c, d, e):
        return 0
    return 0 if apart_beside(normal, a, b, c, d, e) else 1
