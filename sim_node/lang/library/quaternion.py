"""Quaternions (x, y, z, w) as rotations; those of length 1 are meant where nothing else is said."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import Matrix, Quaternion, Vector, element, float32, int32
from sim_node.lang.builtins import abs_, max_, sqrt, vector
from sim_node.lang.func import func
from sim_node.lang.hosted import type_of
from sim_node.lang.library.math import acos, asin, atan2, cos, sin
from sim_node.lang.library.rotation import quat_multiply
from sim_node.lang.library.scalar import clamp
from sim_node.lang.library.vector import cross, dot, length, normalize
from sim_node.lang.static import static

_PI, _TINY = 3.141592653589793, 1e-6
_QUATERNION, _VECTOR = Quaternion(Any), Vector(Any, 3)


@func
def quat_inverse(quat: _QUATERNION) -> Any:
    """The opposite rotation: the conjugate."""
    return type_of(quat)(-quat[0], -quat[1], -quat[2], quat[3])


@func
def imaginary(quat: _QUATERNION) -> Any:
    """x, y and z."""
    return vector(quat[0], quat[1], quat[2])


@func
def quat_rotate(quat: _QUATERNION, vec: _VECTOR) -> Any:
    """Rotate a vector."""
    v = imaginary(quat)
    return vec * (2.0 * quat[3] * quat[3] - 1.0) + v * (2.0 * dot(v, vec)) + cross(v, vec) * (quat[3] * 2.0)


@func
def quat_rotate_inv(quat: _QUATERNION, vec: _VECTOR) -> Any:
    """Rotate a vector by the opposite rotation."""
    v = imaginary(quat)
    return vec * (2.0 * quat[3] * quat[3] - 1.0) + v * (2.0 * dot(v, vec)) - cross(v, vec) * (quat[3] * 2.0)


@func
def quat_from_axis_angle(axis: _VECTOR, angle: Any) -> Any:
    """The rotation about an axis of length 1, counterclockwise for who looks against it."""
    kind, half = type_of(axis), angle * 0.5
    v = axis * sin(half)
    return static(Quaternion(kind.scalar))(v[0], v[1], v[2], cos(half))


@func
def axis_of(quat: _QUATERNION) -> Any:
    """The axis about which it turns by at most half a turn; zeros where it does not turn."""
    v = normalize(imaginary(quat))
    return -v if quat[3] < 0.0 else v


@func
def angle_of(quat: _QUATERNION) -> Any:
    """The angle about that axis, from 0 to pi."""
    return 2.0 * atan2(length(imaginary(quat)), abs_(quat[3]))


@func
def quat_slerp(a: _QUATERNION, b: _QUATERNION, t: Any) -> Any:
    """Turn from a at t = 0 to b at t = 1 at constant speed, the short way."""
    turn = quat_multiply(quat_inverse(a), b)
    return quat_multiply(a, quat_from_axis_angle(axis_of(turn), t * angle_of(turn)))


@func
def quat_rpy(roll: Any, pitch: Any, yaw: Any) -> Any:
    """Turn by roll about x, then by pitch about y, then by yaw about z, which stand still."""
    sr, cr = sin(roll * 0.5), cos(roll * 0.5)
    sp, cp = sin(pitch * 0.5), cos(pitch * 0.5)
    sy, cy = sin(yaw * 0.5), cos(yaw * 0.5)
    kind = type_of(sr)
    return static(Quaternion(kind))(
        cy * sr * cp - sy * cr * sp,
        cy * cr * sp + sy * sr * cp,
        sy * cr * cp - cy * sr * sp,
        cy * cr * cp + sy * sr * sp,
    )


@func
def quat_to_rpy(q: _QUATERNION) -> Any:
    """Roll, pitch and yaw: the inverse of ``quat_rpy``; inaccurate where the pitch is near a quarter turn."""
    roll = atan2(2.0 * (q[3] * q[0] + q[1] * q[2]), 1.0 - 2.0 * (q[0] * q[0] + q[1] * q[1]))
    pitch = asin(clamp(2.0 * (q[3] * q[1] - q[2] * q[0]), -1.0, 1.0))
    yaw = atan2(2.0 * (q[3] * q[2] + q[0] * q[1]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))
    return vector(roll, pitch, yaw)


@func
def quat_to_matrix(quat: _QUATERNION) -> Any:
    """The matrix that rotates columns; its columns are the rotated axes."""
    kind = type_of(quat)
    axes = static(kind.matrix(3, 3))()
    for j in range(3):
        unit = static(kind.vector(3))()
        unit[j] = 1.0
        column = quat_rotate(quat, unit)
        for i in range(3):
            axes[i, j] = column[i]
    return axes


@func
def quat_from_matrix(mat: Matrix(Any, Any, Any)) -> Any:
    """The rotation that a matrix, or the upper left of one of 4 × 4, is.

    Of four times the squares of x, y, z and w the largest is at least 1: it is divided by (Shepperd, 1978).
    """
    kind = type_of(mat)
    x = 1.0 + mat[0, 0] - mat[1, 1] - mat[2, 2]
    y = 1.0 - mat[0, 0] + mat[1, 1] - mat[2, 2]
    z = 1.0 - mat[0, 0] - mat[1, 1] + mat[2, 2]
    w = 1.0 + mat[0, 0] + mat[1, 1] + mat[2, 2]
    q = static(Quaternion(kind.scalar))()
    largest = max_(max_(x, y), max_(z, w))
    if w == largest:
        q = type_of(q)(mat[2, 1] - mat[1, 2], mat[0, 2] - mat[2, 0], mat[1, 0] - mat[0, 1], w)
    elif x == largest:
        q = type_of(q)(x, mat[0, 1] + mat[1, 0], mat[0, 2] + mat[2, 0], mat[2, 1] - mat[1, 2])
    elif y == largest:
        q = type_of(q)(mat[0, 1] + mat[1, 0], y, mat[1, 2] + mat[2, 1], mat[0, 2] - mat[2, 0])
    else:
        q = type_of(q)(mat[0, 2] + mat[2, 0], mat[1, 2] + mat[2, 1], z, mat[1, 0] - mat[0, 1])
    return q * (0.5 / sqrt(largest))


@func
def quat_twist(axis: _VECTOR, q: _QUATERNION) -> Any:
    """The part of the rotation that is about the axis; a rest about one across it is left."""
    v = dot(imaginary(q), axis) * axis
    return normalize(type_of(q)(v[0], v[1], v[2], q[3]))


@func
def quat_twist_angle(axis: _VECTOR, q: _QUATERNION) -> Any:
    """How far the rotation turns about the axis, either way, from 0 to 2 pi."""
    return 2.0 * atan2(abs_(dot(axis, imaginary(q))), q[3])


@func
def quat_twist_angle_signed(axis: _VECTOR, q: _QUATERNION) -> Any:
    """How far the rotation turns about the axis, from -2 pi to 2 pi."""
    return 2.0 * atan2(dot(axis, imaginary(q)), q[3])


@func
def quat_about(axis: int32, angle: Any) -> Any:
    """The rotation about a coordinate axis, by its number."""
    kind, half = type_of(angle), angle * 0.5
    v = static(Vector(kind, 3))()
    v[axis] = sin(half)
    return static(Quaternion(kind))(v[0], v[1], v[2], cos(half))


@func
def quat_from_euler(e: _VECTOR, i: int32, j: int32, k: int32) -> Any:
    """Turn by e[i] about axis i, then about j, then about k, which stand still."""
    return quat_multiply(quat_about(k, e[k]), quat_multiply(quat_about(j, e[j]), quat_about(i, e[i])))


@func
def quat_to_euler(q: _QUATERNION, i: int32, j: int32, k: int32) -> Any:
    """Angles about the axes i, j, k, which stand still; each at its axis' number, a third about i at the one left.

    Bernardes, Viollet, 2022, "Quaternion to Euler angles conversion: A direct, general and computationally efficient
    method". Where the second is at its end, the first is 0.
    """
    kind = type_of(q)
    proper = i == k
    third = 3 - i - j
    other = third if proper else k
    parity = 0.5 * static(kind.scalar)((i - j) * (j - other) * (other - i))
    a, b, c, d = q[3], q[i], q[j], q[other] * parity
    if not proper:
        a, b, c, d = a - q[j], b + q[other] * parity, c + q[3], d - q[i]
    second = acos(clamp(2.0 * (a * a + b * b) / (a * a + b * b + c * c + d * d) - 1.0, -1.0, 1.0))
    plus, minus = atan2(b, a), atan2(d, c)
    first, last = plus - minus, plus + minus
    if abs_(second) < _TINY:
        first, last = first - first, 2.0 * plus
    elif abs_(second - _PI) < _TINY:
        first, last = first - first, 2.0 * minus
    if not proper:
        second, last = second - 0.5 * _PI, last * parity
    angles = static(kind.vector(3))()
    angles[i] = first
    angles[j] = second
    angles[other] = last
    return angles


@func
def quat_identity(dtype: Any = float32) -> Any:
    """The rotation that changes nothing, of numbers of a type."""
    return static(Quaternion(element(dtype)))(0.0, 0.0, 0.0, 1.0)


@func
def quat_to_axis_angle(quat: _QUATERNION) -> Any:
    """The axis about which it turns by at most half a turn, and the angle; zeros where it does not turn."""
    return axis_of(quat), angle_of(quat)


@func(changes=("axis", "angle"))
def quat_to_axis_angle(quat: _QUATERNION, axis: _VECTOR, angle: Any) -> Any:
    """``axis, angle = quat_to_axis_angle(quat)``."""
    return axis_of(quat), angle_of(quat)
