"""Random points, evenly spread over lines, surfaces and volumes, with Warp's streams and maps."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, uint32, vec2, vec3
from sim_node.lang.builtins import sqrt
from sim_node.lang.func import func
from sim_node.lang.library.inverse import acos
from sim_node.lang.library.root import cbrt
from sim_node.lang.library.stream import advance, between, unit
from sim_node.lang.library.trigonometry import cos, sin

_TURN = 6.2831855


@func
def on_circle(angle: float32) -> vec2:
    """The point of the unit circle at an angle."""
    return vec2(cos(angle), sin(angle))


@func
def on_sphere(height: float32, azimuth: float32) -> vec3:
    """The point of the unit sphere at a height, from -1 to 1, and an angle around the upright."""
    polar = acos(height)
    return vec3(cos(azimuth) * sin(polar), sin(azimuth) * sin(polar), cos(polar))


@func(changes=("state",))
def sample_triangle(state: uint32) -> Any:
    """Two barycentric coordinates in a triangle."""
    first = advance(state)
    state = advance(first)
    root = sqrt(unit(first))
    return vec2(1.0 - root, unit(state) * root), state


@func(changes=("state",))
def sample_unit_ring(state: uint32) -> Any:
    """A point of the unit circle's line."""
    state = advance(state)
    return on_circle(between(state, 0.0, _TURN)), state


@func(changes=("state",))
def sample_unit_disk(state: uint32) -> Any:
    """A point inside the unit circle."""
    first = advance(state)
    state = advance(first)
    return sqrt(unit(first)) * on_circle(between(state, 0.0, _TURN)), state


@func(changes=("state",))
def sample_unit_sphere_surface(state: uint32) -> Any:
    """A point of the unit sphere's surface."""
    first = advance(state)
    state = advance(first)
    return on_sphere(1.0 - 2.0 * unit(first), between(state, 0.0, _TURN)), state


@func(changes=("state",))
def sample_unit_sphere(state: uint32) -> Any:
    """A point inside the unit sphere."""
    first = advance(state)
    second = advance(first)
    state = advance(second)
    return cbrt(unit(state)) * on_sphere(1.0 - 2.0 * unit(first), between(second, 0.0, _TURN)), state


@func(changes=("state",))
def sample_unit_hemisphere_surface(state: uint32) -> Any:
    """A point of the unit sphere's surface where z is not below 0."""
    first = advance(state)
    state = advance(first)
    return on_sphere(1.0 - unit(first), between(state, 0.0, _TURN)), state


@func(changes=("state",))
def sample_unit_hemisphere(state: uint32) -> Any:
    """A point inside the unit sphere where z is not below 0."""
    first = advance(state)
    second = advance(first)
    state = advance(second)
    return cbrt(unit(state)) * on_sphere(1.0 - unit(first), between(second, 0.0, _TURN)), state


@func(changes=("state",))
def sample_unit_square(state: uint32) -> Any:
    """A point of the unit square around the origin."""
    first = advance(state)
    state = advance(first)
    return vec2(unit(first) - 0.5, unit(state) - 0.5), state


@func(changes=("state",))
def sample_unit_cube(state: uint32) -> Any:
    """A point inside the unit cube around the origin."""
    first = advance(state)
    second = advance(first)
    state = advance(second)
    return vec3(unit(first) - 0.5, unit(second) - 0.5, unit(state) - 0.5), state
