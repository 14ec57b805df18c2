"""Where segments come closest to each other. Ericson, 2004, "Real-Time Collision Detection", 5.1.9."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, vec3
from sim_node.lang.func import func
from sim_node.lang.library.scalar import clamp
from sim_node.lang.library.vector import dot, length


@func
def difference_of_products(a: float32, b: float32, c: float32, d: float32) -> float32:
    """``a * b - c * d``, rounded from f64, in which both products are exact."""
    return float32(float64(a) * float64(b) - float64(c) * float64(d))


@func
def closest_point_edge_edge(p1: vec3, q1: vec3, p2: vec3, q2: vec3, epsilon: float32) -> vec3:
    """Where p1–q1 and p2–q2 are closest: how far along each, from 0 to 1, and the distance there.

    A segment whose squared length is at most epsilon is a point. Parallel ones meet at the start of the first.
    """
    along1, along2, between = q1 - p1, q2 - p2, p1 - p2
    square1, square2 = dot(along1, along1), dot(along2, along2)
    on1, on2 = dot(along1, between), dot(along2, between)
    s, t = float32(0.0), float32(0.0)
    if square1 <= epsilon:
        if square2 > epsilon:
            t = clamp(on2 / square2, 0.0, 1.0)
    elif square2 <= epsilon:
        s = clamp(-on1 / square1, 0.0, 1.0)
    else:
        both = dot(along1, along2)
        area = difference_of_products(square1, square2, both, both)
        if area > 0.0:
            s = clamp(difference_of_products(both, on2, on1, square2) / area, 0.0, 1.0)
        t = (both * s + on2) / square2
        if t < 0.0:
            s, t = clamp(-on1 / square1, 0.0, 1.0), float32(0.0)
        elif t > 1.0:
            s, t = clamp((both - on1) / square1, 0.0, 1.0), float32(1.0)
    return vec3(s, t, length((p2 + t * along2) - (p1 + s * along1)))
