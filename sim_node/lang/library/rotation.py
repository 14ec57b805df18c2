"""Products of quaternions and transforms, written in the kernel language: what ``*`` means for them."""

from __future__ import annotations

from typing import Any

from sim_node.lang.func import func
from sim_node.lang.hosted import type_of


@func
def quat_multiply(a: Any, b: Any) -> Any:
    """Hamilton's product: the rotation b, then a."""
    return type_of(a)(
        a.w * b.x + b.w * a.x + a.y * b.z - b.y * a.z,
        a.w * b.y + b.w * a.y + a.z * b.x - b.z * a.x,
        a.w * b.z + b.w * a.z + a.x * b.y - b.x * a.y,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    )


@func
def quat_turn(q: Any, v: Any) -> Any:
    """Rotate a vector of three components by a quaternion of length 1."""
    c = 2.0 * q.w * q.w - 1.0
    d = 2.0 * (q.x * v.x + q.y * v.y + q.z * v.z)
    e = 2.0 * q.w
    return type_of(v)(
        v.x * c + q.x * d + (q.y * v.z - q.z * v.y) * e,
        v.y * c + q.y * d + (q.z * v.x - q.x * v.z) * e,
        v.z * c + q.z * d + (q.x * v.y - q.y * v.x) * e,
    )


@func
def transform_multiply(a: Any, b: Any) -> Any:
    """The transform b, then a."""
    return type_of(a)(quat_turn(a.q, b.p) + a.p, quat_multiply(a.q, b.q))
