"""The functions of the library that random programs call: what they are given, by type, and what they give."""

from __future__ import annotations

import re
from collections.abc import Callable

from palette import Type

from sim_node.dtypes import Matrix, Quaternion, Transform, Vector, float32, int32, uint32

# What stands for an expression of its type; ``state`` is a variable that the call moves on, ``row`` an array of
# numbers in a row and ``of`` one of them.
_TYPES: dict[str, Type] = {
    "u": uint32, "i": int32, "f": float32, "v2": Vector(float32, 2), "v3": Vector(float32, 3),
    "v4": Vector(float32, 4), "m": Matrix(float32, 3, 3), "q": Quaternion(float32), "t": Transform(float32),
}  # fmt: skip
_STRAIGHT = {
    "u": ["rand_init({i})", "rand_init({i}, {i})", "randu({state})", "randu({state}, 3, {u} | 4)", "argmin({v3})"],
    "i": ["randi({state})", "randi({state}, -3, 5)"],
    "f": ["randf({state})", "randf({state}, {f}, 2.5)", "randn({state})", "noise({u}, {f})", "noise({u}, {v2})",
          "noise({u}, {v3})", "noise({u}, {v4})", "pnoise({u}, {f}, 3)", "pnoise({u}, {v2}, 3, {i} | 1)",
          "pnoise({u}, {v3}, 3, 4, 5)", "smoothstep({f}, {f}, {f})", "radians({f})", "step({f})", "norm_l1({v3})",
          "norm_l2({v2})", "norm_huber({v2}, 0.5)", "norm_pseudo_huber({v3}, 0.5)", "quat_twist_angle({v3}, {q})"],
    "v2": ["sample_triangle({state})", "sample_unit_ring({state})", "sample_unit_disk({state})",
           "sample_unit_square({state})"],
    "v3": ["sample_unit_sphere_surface({state})", "sample_unit_sphere({state})", "sample_unit_cube({state})",
           "sample_unit_hemisphere_surface({state})", "sample_unit_hemisphere({state})",
           "quat_to_rpy({q})", "quat_rotate_inv({q}, {v3})", "transform_point({t}, {v3})",
           "closest_point_edge_edge({v3}, {v3}, {v3}, {v3}, 1.0e-3)"],
    "q": ["quat_slerp({q}, {q}, {f})", "quat_from_axis_angle({v3}, {f})", "quat_rpy({f}, {f}, {f})",
          "quat_from_matrix({m})"],
    "t": ["transform_inverse({t})"],
    "m": ["quat_to_matrix({q})", "skew({v3})", "outer({v3}, {v3})", "diag({v3})"],
}  # fmt: skip
_LOOPS = {
    "u": ["poisson({state}, 3.0)", "poisson({state}, 12.5)"],
    "i": ["lower_bound({row}, {of})", "lower_bound({row}, 0, 1, {of})", "sample_cdf({state}, {floats})"],
    "v2": ["curlnoise({u}, {v2}, {u} & 3, {f}, 0.5)"],
    "v3": ["curlnoise({u}, {v3})"],
}
Row = tuple[str, Type]
STRAIGHT, LOOPS = (
    [(f"sn.{text}", _TYPES[kind]) for kind, texts in table.items() for text in texts] for table in (_STRAIGHT, _LOOPS)
)


def asks(text: str) -> set[str]:
    """What a row asks for besides expressions."""
    return {*re.findall(r"{(\w+)}", text)} - {*_TYPES}


def filled(text: str, given: dict[str, str], expression: Callable[[Type], str]) -> str:
    """Write a row's call: what is given by name, and expressions of the other types."""
    return re.sub(r"{(\w+)}", lambda found: given.get(found[1]) or expression(_TYPES[found[1]]), text)
