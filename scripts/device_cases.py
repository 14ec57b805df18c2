"""Every function and operator of the language, for ``scripts/compare_devices.py``."""

from __future__ import annotations

from collections.abc import Iterator

from device_case import NUMBERS, Case

from sim_node.lang.library import MATH

_FLOATS, _INTEGERS, _BOTH = "f32 f64 f16", "i8 i16 i32 i64 u8 u16 u32 u64", "f32 f64"
_ROUNDED = ["sqrt", "abs", "floor", "ceil", "trunc", "rint", "round", "frac", "sign", "degrees", "radians"]
_ASKED = ["step", "nonzero", "isnan", "isinf", "isfinite"]
_CAST = {"to bool": "bool(a)"} | {f"to {kind}": f"sn.{number.name}(a)" for kind, number in NUMBERS.items()}
_COMPARED = {"compared": "(a == b, a != b, a < b, a <= b, a > b, a >= b)"}
_POWERS = {"powers": "(a ** 2, a ** 3, a ** 7)"}
_PYTHON = {"python min": "min(a, b)", "python max": "max(a, b)", "choice": "a if a < b else b"}


def _operators(*written: str) -> dict[str, str]:
    return {operator: f"a {operator} b" for operator in written}


def _drawing(*calls: str) -> dict[str, str]:
    """Calls that move on a random stream, which is operand a; what they give, and what they leave."""
    return {call: f"(sn.{call}, a)" for call in calls}


# types that S stands for; operands; expressions by name, or functions of ``sn`` of all operands
_TABLE: list[tuple[str, str, dict[str, str] | list[str]]] = [
    (_FLOATS, "S", [*MATH, "erfc", "erfinv", "erfcinv", *_ROUNDED, *_ASKED]),
    (_FLOATS, "S", {"-": "-a", "1 /": "1.0 / a", "whole": "(a // 1.0, a % 1.0)", **_POWERS, **_CAST}),
    (_FLOATS, "S S", ["min", "max", "pow", "atan2", "hypot", "copysign", "mod"]),
    (_FLOATS, "S S", ["add", "sub", "mul", "div", "floordiv"]),
    (_FLOATS, "S S", {**_operators("+", "-", "*", "/", "//", "%"), **_COMPARED, **_PYTHON}),
    (_FLOATS, "S S S", ["fma", "clamp", "lerp", "smoothstep"]),
    (_FLOATS, "S S S", {"where": "sn.where(a < b, b, c)", "a * b + c": "a * b + c"}),
    (_INTEGERS, "S", ["abs", "bit_count", "step", "nonzero", "sign"]),
    (_INTEGERS, "S", {"-": "-a", "~": "~a", **_POWERS, **_CAST}),
    (_INTEGERS, "S S", ["min", "max", "add", "sub", "mul"]),
    (_INTEGERS, "S S", {**_operators("+", "-", "*", "&", "|", "^", "<<", ">>"), **_COMPARED, **_PYTHON}),
    (_INTEGERS, "S S", {name: f"a {name} divisor(a, b)" for name in ("//", "%")}),
    (_INTEGERS, "S S", {name: f"sn.{name}(a, divisor(a, b))" for name in ("div", "mod", "floordiv")}),
    (_INTEGERS, "S S S", ["clamp"]),
    # vectors
    *((_BOTH, f"V{n}", ["length", "length_sq", "normalize", "argmin", "argmax", "min", "max"]) for n in (2, 3, 4)),
    *((_BOTH, f"V{n} V{n}", ["dot", "cw_mul", "cw_div", "mod", "min", "max"]) for n in (2, 3, 4)),
    (_BOTH, "V3", ["isnan", "isinf", "isfinite", "sign", "norm_l1", "norm_l2", "skew", "diag"]),
    (_BOTH, "V3", ["norm_huber", "norm_pseudo_huber", "smooth_normalize"]),
    (_BOTH, "V3 V3", {**_operators("+", "-", "//", "%"), "cross": "sn.cross(a, b)", "outer": "sn.outer(a, b)"}),
    (_BOTH, "V3 V3 V3", {"rows": "sn.matrix_from_rows(a, b, c)", "columns": "sn.matrix_from_cols(a, b, c)"}),
    (_BOTH, "V3 S", _operators("*", "/")),
    # matrices
    *((_BOTH, f"M{n}", ["determinant", "inverse", "trace", "transpose", "get_diag"]) for n in (2, 3, 4)),
    *((_BOTH, f"M{n} M{n}", {**_operators("+", "-", "*"), "ddot": "sn.ddot(a, b)"}) for n in (2, 3, 4)),
    (_BOTH, "M3 V3", _operators("*")),
    (_BOTH, "M3 M3", ["cw_mul", "cw_div"]),
    (_BOTH, "M2", ["svd2"]),
    (_BOTH, "M3", ["svd3", "qr3", "eig3", "quat_from_matrix"]),
    (_BOTH, "M4", ["transform_from_matrix", "transform_decompose"]),
    (_BOTH, "M4 V3", ["transform_point", "transform_vector"]),
    # rotations and rigid transforms
    (_BOTH, "Q", ["quat_inverse", "quat_to_rpy", "quat_to_matrix", "quat_to_axis_angle", "normalize"]),
    (_BOTH, "Q", {"quat_to_euler": "sn.quat_to_euler(a, 0, 1, 2)"}),
    (_BOTH, "V3", {"quat_from_euler": "sn.quat_from_euler(a, 2, 1, 0)"}),
    (_BOTH, "Q Q", _operators("*")),
    (_BOTH, "Q V3", ["quat_rotate", "quat_rotate_inv"]),
    (_BOTH, "V3 Q", ["quat_twist", "quat_twist_angle", "quat_twist_angle_signed"]),
    (_BOTH, "V3 S", ["quat_from_axis_angle"]),
    (_BOTH, "Q Q S", ["quat_slerp"]),
    (_BOTH, "S S S", ["quat_rpy"]),
    (_BOTH, "T", ["transform_inverse", "transform_get_translation", "transform_get_rotation", "transform_to_matrix"]),
    (_BOTH, "T T", ["transform_multiply"]),
    (_BOTH, "T V3", ["transform_point", "transform_vector"]),
    (_BOTH, "T V3", {"transform_set_translation": "sn.transform_set_translation(a, b); a"}),
    (_BOTH, "T Q", {"transform_set_rotation": "sn.transform_set_rotation(a, b); a"}),
    (_BOTH, "V3 Q V3", ["transform_compose"]),
    (_BOTH, "V6", ["spatial_top", "spatial_bottom"]),
    (_BOTH, "V6 V6", ["spatial_dot", "spatial_cross", "spatial_cross_dual"]),
    (_BOTH, "M3 M3", ["spatial_adjoint"]),
    (_BOTH, "V6 V3", ["velocity_at_point"]),
    (_BOTH, "T V6", ["transform_twist", "transform_wrench"]),
    # random numbers, noise, searches, geometry
    ("u32", "i32 i32", ["rand_init"]),
    ("u32", "i32", ["rand_init"]),
    ("u32", "S", _drawing("randi(a)", "randi(a, -3, 5)", "randu(a)", "randf(a)", "randn(a)", "sample_cdf(a, rising)")),
    ("u32", "S", _drawing(*(f"sample_{name}(a)" for name in ("triangle", "unit_ring", "unit_disk", "unit_square")))),
    ("u32", "S", _drawing(*(f"sample_unit_{name}(a)" for name in ("sphere_surface", "sphere", "cube")))),
    ("u32", "S", _drawing("sample_unit_hemisphere_surface(a)", "sample_unit_hemisphere(a)")),
    ("u32", "S u8", _drawing("randu(a, 3, sn.uint32(b) + 4)", "poisson(a, sn.float32(b) * 0.125)")),
    ("u32", "S f32 f32", _drawing("randf(a, b, c)")),
    ("f32", "u32 S", {"noise 1": "sn.noise(a, b)", "pnoise 1": "sn.pnoise(a, b, 3)"}),
    ("f32", "u32 V2", {"noise 2": "sn.noise(a, b)", "pnoise 2": "sn.pnoise(a, b, 3, 4)"}),
    ("f32", "u32 V2", {"curl 2": "sn.curlnoise(a, b)"}),
    ("f32", "u32 V3", {"noise 3": "sn.noise(a, b)", "pnoise 3": "sn.pnoise(a, b, 3, 4, 5)"}),
    ("f32", "u32 V4", {"noise 4": "sn.noise(a, b)", "pnoise 4": "sn.pnoise(a, b, 3, 4, 5, 6)"}),
    ("f32", "u32 V3", {"curl 3": "sn.curlnoise(a, b, sn.uint32(2), 2.0, 0.5)"}),
    ("f32", "u32 V4", {"curl 4": "sn.curlnoise(a, b)"}),
    ("f32", "S", {"lower_bound": "sn.lower_bound(rising, a)"}),
    ("f32", "V3 V3 V3 V3", {"closest_point_edge_edge": "sn.closest_point_edge_edge(a, b, c, d, 1.0e-3)"}),
    ("f32", "V3 V3 V3 V3 V3 V3", ["intersect_tri_tri"]),
]  # fmt: skip
_FAST = {f"fast {name}": f"sn.{name}(a)" for name in ("exp", "log", "sin", "cos", "tan")}


def _cases() -> Iterator[Case]:
    for kinds, operands, rows in _TABLE:
        arguments = ", ".join("abcdefgh"[: len(operands.split())])
        named = rows if isinstance(rows, dict) else {name: f"sn.{name}({arguments})" for name in rows}
        for kind in kinds.split():
            types = tuple(kind if operand == "S" else operand for operand in operands.split())
            told = operands.replace("S", kind) if "S" in operands else f"{operands} {kind}"
            for name, expression in named.items():
                yield Case(f"{name} ({told})", types, expression, NUMBERS[kind])
    for name, expression in _FAST.items():
        yield Case(f"{name} (f32)", ("f32",), expression, NUMBERS["f32"], 'fast_math="reproducible"')


# by name: that of the function, and the types of its operands
CASES: dict[str, Case] = {case.name: case for case in _cases()}
# Public functions that are no case, and where they are tried on every device instead.
ELSEWHERE = {
    **dict.fromkeys(["tid", "print", "printf"], "test_devices.py"),
    **dict.fromkeys([f"atomic_{name}" for name in ("add", "sub", "min", "max", "exch", "cas")], "test_devices.py"),
    **dict.fromkeys([f"atomic_{name}" for name in ("and", "or", "xor")], "test_devices.py"),
    **dict.fromkeys(["expect_eq", "expect_neq", "expect_near"], "they give nothing"),
    **dict.fromkeys(["vector", "matrix", "quaternion", "transformation", "cast"], "in every case"),
    **dict.fromkeys(["identity", "quat_identity", "transform_identity"], "constants"),
}
