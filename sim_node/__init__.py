"""Plants written in Python, stepped at kHz inside ROS 2, replayed bit for bit.

The names a kernel author needs are looked up on first use (PEP 562), so that a process which only subscribes loads
neither LLVM nor rclpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers know of the names below; the others are Any to them
    from sim_node.lang.func import Func as Func
    from sim_node.lang.func import func as func
    from sim_node.lang.kernel import Kernel as Kernel
    from sim_node.lang.kernel import kernel as kernel
    from sim_node.lang.overload import overload as overload
    from sim_node.lang.static import static as static

__version__ = "0.1.0"

# public name → module that defines it
_SUFFIXES = ("", *"hfdbsiul", "ub", "us", "ul")
_KINDS = ("Type", "Key", "Attribute", "Value")
_FLOATING = ("mat22", "mat33", "mat44", "quat", "transform", "spatial_vector", "spatial_matrix")
_HOMES: dict[str, str] = {
    "Array": "sim_node.runtime.array",
    **dict.fromkeys(["indexedarray", "indexedarray1d", "indexedarray2d"], "sim_node.runtime.maker"),
    **dict.fromkeys(["indexedarray3d", "indexedarray4d"], "sim_node.runtime.maker"),
    **dict.fromkeys(["array", "array1d", "array2d", "array3d", "array4d"], "sim_node.runtime.maker"),
    **dict.fromkeys(["zeros", "empty", "full", "ones", "clone", "copy", "from_numpy"], "sim_node.runtime.creation"),
    **dict.fromkeys(["zeros_like", "empty_like", "full_like", "ones_like"], "sim_node.runtime.creation"),
    "from_dlpack": "sim_node.runtime.foreign",
    "to_dlpack": "sim_node.runtime.exchange",
    **dict.fromkeys(["from_torch", "to_torch", "dtype_from_torch", "dtype_to_torch"], "sim_node.runtime.torch"),
    **dict.fromkeys(["device_from_torch", "device_to_torch"], "sim_node.runtime.torch"),
    **dict.fromkeys(["launch", "Launch"], "sim_node.runtime.launch"),
    "utils": "sim_node.runtime.fixed_order",
    "IndexedArray": "sim_node.runtime.indexed",
    "StabilityWarning": "sim_node.errors",
    **dict.fromkeys(["BuildError", "BuildTypeError", "BuildNameError", "BuildAttributeError"], "sim_node.errors"),
    **dict.fromkeys(["BuildValueError", "UnsupportedError", "LaunchError", "KernelError"], "sim_node.errors"),
    **dict.fromkeys([f"WarpCodegen{kind}Error" for kind in ("", *_KINDS)], "sim_node.errors"),
    "Plan": "sim_node.runtime.plan",
    "get_device": "sim_node.device.names",
    "get_devices": "sim_node.device.names",
    **dict.fromkeys(["set_device", "ScopedDevice", "get_preferred_device"], "sim_node.device.scope"),
    **dict.fromkeys(["is_device_available", "is_cpu_available", "is_cuda_available"], "sim_node.device.scope"),
    **dict.fromkeys(["init", "synchronize", "synchronize_device"], "sim_node.device.scope"),
    "types": "sim_node.types",
    "kernel": "sim_node.lang.kernel",
    "Kernel": "sim_node.lang.kernel",
    **dict.fromkeys(["Int", "Float", "Scalar"], "sim_node.lang.kinds"),
    **dict.fromkeys(["get_module", "get_module_options", "set_module_options"], "sim_node.lang.module"),
    **dict.fromkeys(["load_module", "force_load"], "sim_node.runtime.loading"),
    "func": "sim_node.lang.func",
    "overload": "sim_node.lang.overload",
    "static": "sim_node.lang.static",
    **dict.fromkeys(
        ["tid", "sqrt", "abs", "min", "max", "floor", "ceil", "trunc", "rint", "fma", "cast", "print", "printf"],
        "sim_node.lang.builtins",
    ),
    **dict.fromkeys(["constant", "E", "e", "LOG2E", "log2e", "LOG10E", "log10e"], "sim_node.lang.constants"),
    **dict.fromkeys(["LN2", "ln2", "LN10", "ln10", "PHI", "phi", "PI", "pi"], "sim_node.lang.constants"),
    **dict.fromkeys(["HALF_PI", "half_pi", "TAU", "tau", "INF", "inf", "NAN", "nan"], "sim_node.lang.constants"),
    **dict.fromkeys(
        ["vector", "matrix", "quaternion", "transformation", "identity", "matrix_from_rows", "matrix_from_cols"],
        "sim_node.lang.builtins",
    ),
    "struct": "sim_node.lang.struct",
    **dict.fromkeys(
        [f"atomic_{name}" for name in ("add", "sub", "min", "max", "and", "or", "xor", "exch", "cas")],
        "sim_node.lang.builtins",
    ),
    **dict.fromkeys(["clamp", "sign", "lerp"], "sim_node.lang.library.scalar"),
    **dict.fromkeys(["where", "step", "nonzero", "isnan", "isinf", "isfinite"], "sim_node.lang.library.elementary"),
    **dict.fromkeys(["copysign", "round", "frac", "degrees", "radians"], "sim_node.lang.library.elementary"),
    **dict.fromkeys(["smoothstep", "add", "sub", "mul", "div", "floordiv", "mod"], "sim_node.lang.library.elementary"),
    **dict.fromkeys(["expect_eq", "expect_neq", "expect_near"], "sim_node.lang.library.expectation"),
    "intersect_tri_tri": "sim_node.lang.library.intersection",
    **dict.fromkeys(["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow"], "sim_node.lang.library.math"),
    **dict.fromkeys(["sin", "cos", "tan", "asin", "acos", "atan", "atan2"], "sim_node.lang.library.math"),
    **dict.fromkeys(
        ["sinh", "cosh", "tanh", "cbrt", "hypot", "erf", "erfc", "erfinv", "erfcinv"], "sim_node.lang.library.math"
    ),
    **dict.fromkeys(["dot", "cross", "length", "length_sq", "normalize"], "sim_node.lang.library.vector"),
    **dict.fromkeys(["cw_mul", "cw_div", "argmin", "argmax"], "sim_node.lang.library.vector"),
    **dict.fromkeys(["norm_l1", "norm_l2", "norm_huber"], "sim_node.lang.library.norm"),
    **dict.fromkeys(["norm_pseudo_huber", "smooth_normalize"], "sim_node.lang.library.norm"),
    "bit_count": "sim_node.lang.library.bits",
    "closest_point_edge_edge": "sim_node.lang.library.closest",
    "lower_bound": "sim_node.lang.library.search",
    **dict.fromkeys(["noise", "pnoise", "curlnoise"], "sim_node.lang.library.noise"),
    **dict.fromkeys(["transpose", "outer", "skew"], "sim_node.lang.library.matrix"),
    **dict.fromkeys(["ddot", "trace", "diag"], "sim_node.lang.library.matrix"),
    **dict.fromkeys(["get_diag", "determinant", "inverse"], "sim_node.lang.library.matrix"),
    **dict.fromkeys(["svd2", "svd3", "qr3"], "sim_node.lang.library.decomposition"),
    **dict.fromkeys(["eig3"], "sim_node.lang.library.decomposition"),
    **dict.fromkeys(["quat_inverse", "quat_rotate", "quat_rotate_inv"], "sim_node.lang.library.quaternion"),
    **dict.fromkeys(["quat_from_axis_angle", "quat_slerp", "quat_rpy"], "sim_node.lang.library.quaternion"),
    **dict.fromkeys(["quat_to_rpy", "quat_to_matrix", "quat_from_matrix"], "sim_node.lang.library.quaternion"),
    **dict.fromkeys(["quat_twist", "quat_twist_angle", "quat_twist_angle_signed"], "sim_node.lang.library.quaternion"),
    **dict.fromkeys(["quat_from_euler", "quat_to_euler"], "sim_node.lang.library.quaternion"),
    **dict.fromkeys(
        ["transform_get_translation", "transform_get_rotation", "transform_inverse"], "sim_node.lang.library.transform"
    ),
    **dict.fromkeys(["transform_point", "transform_vector", "transform_compose"], "sim_node.lang.library.transform"),
    **dict.fromkeys(
        ["transform_decompose", "transform_to_matrix", "transform_from_matrix"], "sim_node.lang.library.transform"
    ),
    **dict.fromkeys(["transform_multiply"], "sim_node.lang.library.rotation"),
    **dict.fromkeys(["spatial_top", "spatial_bottom", "spatial_dot"], "sim_node.lang.library.spatial"),
    **dict.fromkeys(["spatial_cross", "spatial_cross_dual", "spatial_adjoint"], "sim_node.lang.library.spatial"),
    **dict.fromkeys(["velocity_at_point", "transform_twist", "transform_wrench"], "sim_node.lang.library.spatial"),
    **dict.fromkeys(["quat_identity", "quat_to_axis_angle"], "sim_node.lang.library.quaternion"),
    **dict.fromkeys(["transform_identity", "transform_set_translation"], "sim_node.lang.library.transform"),
    "transform_set_rotation": "sim_node.lang.library.transform",
    "rand_init": "sim_node.lang.library.stream",
    **dict.fromkeys(["randi", "randu", "randf", "randn", "sample_cdf", "poisson"], "sim_node.lang.library.random"),
    **dict.fromkeys(["sample_triangle", "sample_unit_ring", "sample_unit_disk"], "sim_node.lang.library.sampling"),
    **dict.fromkeys(["sample_unit_sphere", "sample_unit_sphere_surface"], "sim_node.lang.library.sampling"),
    **dict.fromkeys(["sample_unit_hemisphere", "sample_unit_hemisphere_surface"], "sim_node.lang.library.sampling"),
    **dict.fromkeys(["sample_unit_square", "sample_unit_cube"], "sim_node.lang.library.sampling"),
    **dict.fromkeys(["dtype_from_numpy", "dtype_to_numpy"], "sim_node.dtypes"),
    **dict.fromkeys([f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)], "sim_node.dtypes"),
    **dict.fromkeys(["float16", "float32", "float64", "bool", "int", "float"], "sim_node.dtypes"),
    **dict.fromkeys(
        [f"vec{n}{s}" for n in (2, 3, 4) for s in ("", *"hfdbsiul", "ub", "us", "ui", "ul")], "sim_node.lang.values"
    ),
    **dict.fromkeys([f"{kind}{s}" for kind in _FLOATING for s in ("", *"hfd")], "sim_node.lang.values"),
    **dict.fromkeys(["quat_identity", "transform_identity"], "sim_node.lang.library.identity"),
    **dict.fromkeys(["transform_multiply", "quat_to_axis_angle"], "sim_node.lang.library.identity"),
    "Plant": "sim_node.plant.plant",
    **dict.fromkeys(["parameter", "input", "state", "output"], "sim_node.plant.declarations"),
    "Stepper": "sim_node.plant.stepper",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'sim_node' has no attribute '{name}'")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
