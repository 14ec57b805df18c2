"""The math library as kernels call it: each name takes f16, f32 or f64, and gives what it takes.

Of f16 the result is that of f32, rounded once more.
"""

from __future__ import annotations

import inspect

from sim_node.dtypes import float16, float32
from sim_node.lang.func import Func, func, overloaded
from sim_node.lang.library import (
    error_function,
    exponential,
    fast,
    hyperbolic,
    inverse,
    logarithm,
    polar,
    power,
    root,
    trigonometry,
)
from sim_node.lang.library.double import error_function as error_function_of_f64
from sim_node.lang.library.double import error_inverse as error_inverse_of_f64
from sim_node.lang.library.double import exponential as exponential_of_f64
from sim_node.lang.library.double import hyperbolic as hyperbolic_of_f64
from sim_node.lang.library.double import inverse as inverse_of_f64
from sim_node.lang.library.double import logarithm as logarithm_of_f64
from sim_node.lang.library.double import power as power_of_f64
from sim_node.lang.library.double import root as root_of_f64
from sim_node.lang.library.double import trigonometry as trigonometry_of_f64


def of_half(full: Func) -> Func:
    """The form of f16."""

    @func(name=full.name)
    def one(x: float16) -> float16:
        return float16(full(float32(x)))

    @func(name=full.name)
    def two(x: float16, y: float16) -> float16:
        return float16(full(float32(x), float32(y)))

    return one if len(inspect.signature(full.function).parameters) == 1 else two


def _family(double: Func, full: Func, fast: Func | None = None) -> Func:
    return overloaded(of_half(full), double, full, fast=fast)


exp = _family(exponential_of_f64.exp, exponential.exp, fast=fast.exp)
exp2 = _family(exponential_of_f64.exp2, exponential.exp2)
expm1 = _family(exponential_of_f64.expm1, hyperbolic.expm1)
log = _family(logarithm_of_f64.log, logarithm.log, fast=fast.log)
log2 = _family(logarithm_of_f64.log2, logarithm.log2)
log10 = _family(logarithm_of_f64.log10, logarithm.log10)
log1p = _family(logarithm_of_f64.log1p, logarithm.log1p)
sin = _family(trigonometry_of_f64.sin, trigonometry.sin, fast=fast.sin)
cos = _family(trigonometry_of_f64.cos, trigonometry.cos, fast=fast.cos)
tan = _family(trigonometry_of_f64.tan, trigonometry.tan, fast=fast.tan)
asin = _family(inverse_of_f64.asin, inverse.asin)
acos = _family(inverse_of_f64.acos, inverse.acos)
atan = _family(inverse_of_f64.atan, inverse.atan)
atan2 = _family(inverse_of_f64.atan2, polar.atan2)
sinh = _family(hyperbolic_of_f64.sinh, hyperbolic.sinh)
cosh = _family(hyperbolic_of_f64.cosh, hyperbolic.cosh)
tanh = _family(hyperbolic_of_f64.tanh, hyperbolic.tanh)
cbrt = _family(root_of_f64.cbrt, root.cbrt)
hypot = _family(root_of_f64.hypot, polar.hypot)
pow = _family(power_of_f64.pow, power.pow)
erf = _family(error_function_of_f64.erf, error_function.erf)
erfc = _family(error_inverse_of_f64.erfc, error_function.erfc)
erfinv = _family(error_inverse_of_f64.erfinv, error_function.erfinv)
erfcinv = _family(error_inverse_of_f64.erfcinv, error_function.erfcinv)
