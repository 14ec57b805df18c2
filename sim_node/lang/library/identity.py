"""Rotations and transforms that change nothing, and what a rotation turns about, written in the kernel language."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32
from sim_node.lang.builtins import abs_, quaternion, transformation, vector
from sim_node.lang.func import func
from sim_node.lang.library.math import atan2
from sim_node.lang.library.vector import length, normalize


@func
def quat_identity(dtype: Any = float32) -> Any:
    """The rotation that changes nothing."""
    return quaternion(0.0, 0.0, 0.0, 1.0, dtype=dtype)


@func
def transform_identity(dtype: Any = float32) -> Any:
    """The transform that changes nothing."""
    return transformation(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, dtype=dtype)


@func
def transform_multiply(a: Any, b: Any) -> Any:
    """``a * b``: first b, then a."""
    return a * b


@func
def turned_about(q: Any) -> Any:
    """The axis of a rotation and half the sine and cosine of its angle, of which the cosine is not negative."""
    v = vector(q[0], q[1], q[2])
    return -v if q[3] < 0 else v


@func
def quat_to_axis_angle(q: Any) -> Any:
    """The axis and the angle of a rotation, the angle from 0 to pi; the axis of none is zero."""
    v = turned_about(q)
    return normalize(v), 2 * atan2(length(v), abs_(q[3]))


@func(changes=("axis", "angle"))
def quat_to_axis_angle(q: Any, axis: Any, angle: Any) -> Any:
    """The axis and the angle of a rotation, into two variables."""
    v = turned_about(q)
    axis = normalize(v)
    angle = 2 * atan2(length(v), abs_(q[3]))
    return axis, angle
