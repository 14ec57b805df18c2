"""Spatial algebra: twists (angular, linear) and wrenches (torque, force) as vectors of six. Featherstone, 2008."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import Matrix, Transform, Vector
from sim_node.lang.builtins import vector
from sim_node.lang.func import func
from sim_node.lang.hosted import type_of
from sim_node.lang.library.quaternion import quat_rotate
from sim_node.lang.library.transform import transform_get_rotation, transform_get_translation
from sim_node.lang.library.vector import cross, dot
from sim_node.lang.static import static

_SIX, _THREE, _MATRIX, _TRANSFORM = Vector(Any, 6), Vector(Any, 3), Matrix(Any, 3, 3), Transform(Any)


@func
def spatial(top: _THREE, bottom: _THREE) -> Any:
    """Six numbers of two halves."""
    kind = type_of(top)
    return static(kind.vector(6))(top[0], top[1], top[2], bottom[0], bottom[1], bottom[2])


@func
def spatial_top(svec: _SIX) -> Any:
    """The angular half."""
    return vector(svec[0], svec[1], svec[2])


@func
def spatial_bottom(svec: _SIX) -> Any:
    """The linear half."""
    return vector(svec[3], svec[4], svec[5])


@func
def spatial_dot(a: _SIX, b: _SIX) -> Any:
    """Scalar product, such as the power of a wrench along a twist."""
    return dot(a, b)


@func
def spatial_cross(a: _SIX, b: _SIX) -> Any:
    """How a twist b changes that is carried along a."""
    w, v = spatial_top(a), spatial_bottom(a)
    x, y = spatial_top(b), spatial_bottom(b)
    return spatial(cross(w, x), cross(v, x) + cross(w, y))


@func
def spatial_cross_dual(a: _SIX, b: _SIX) -> Any:
    """How a wrench b changes that is carried along a."""
    w, v = spatial_top(a), spatial_bottom(a)
    x, y = spatial_top(b), spatial_bottom(b)
    return spatial(cross(w, x) + cross(v, y), cross(w, y))


@func
def spatial_adjoint(r: _MATRIX, s: _MATRIX) -> Any:
    """The matrix of six rows with r twice on its diagonal, and s below."""
    kind = type_of(r)
    made = static(kind.matrix(6, 6))()
    for i in range(3):
        for j in range(3):
            made[i, j] = r[i, j]
            made[i + 3, j + 3] = r[i, j]
            made[i + 3, j] = s[i, j]
    return made


@func
def velocity_at_point(qd: _SIX, r: _THREE) -> Any:
    """Velocity of a point of a body that moves with a twist."""
    return spatial_bottom(qd) + cross(spatial_top(qd), r)


@func
def transform_twist(t: _TRANSFORM, x: _SIX) -> Any:
    """A twist as it is seen from the frame that t leads to."""
    q, p = transform_get_rotation(t), transform_get_translation(t)
    w = quat_rotate(q, spatial_top(x))
    return spatial(w, quat_rotate(q, spatial_bottom(x)) + cross(p, w))


@func
def transform_wrench(t: _TRANSFORM, x: _SIX) -> Any:
    """A wrench as it is seen from the frame that t leads to."""
    q, p = transform_get_rotation(t), transform_get_translation(t)
    force = quat_rotate(q, spatial_bottom(x))
    return spatial(quat_rotate(q, spatial_top(x)) + cross(p, force), force)
