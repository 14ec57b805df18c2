"""The math library as kernels call it: each name takes f32 or f64, and gives what it takes."""

from __future__ import annotations

from sim_node.lang.func import overloaded
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

exp = overloaded(exponential_of_f64.exp, exponential.exp, fast=fast.exp)
exp2 = overloaded(exponential_of_f64.exp2, exponential.exp2)
expm1 = overloaded(exponential_of_f64.expm1, hyperbolic.expm1)
log = overloaded(logarithm_of_f64.log, logarithm.log, fast=fast.log)
log2 = overloaded(logarithm_of_f64.log2, logarithm.log2)
log10 = overloaded(logarithm_of_f64.log10, logarithm.log10)
log1p = overloaded(logarithm_of_f64.log1p, logarithm.log1p)
sin = overloaded(trigonometry_of_f64.sin, trigonometry.sin, fast=fast.sin)
cos = overloaded(trigonometry_of_f64.cos, trigonometry.cos, fast=fast.cos)
tan = overloaded(trigonometry_of_f64.tan, trigonometry.tan, fast=fast.tan)
asin = overloaded(inverse_of_f64.asin, inverse.asin)
acos = overloaded(inverse_of_f64.acos, inverse.acos)
atan = overloaded(inverse_of_f64.atan, inverse.atan)
atan2 = overloaded(inverse_of_f64.atan2, polar.atan2)
sinh = overloaded(hyperbolic_of_f64.sinh, hyperbolic.sinh)
cosh = overloaded(hyperbolic_of_f64.cosh, hyperbolic.cosh)
tanh = overloaded(hyperbolic_of_f64.tanh, hyperbolic.tanh)
cbrt = overloaded(root_of_f64.cbrt, root.cbrt)
hypot = overloaded(root_of_f64.hypot, polar.hypot)
pow = overloaded(power_of_f64.pow, power.pow)
erf = overloaded(error_function_of_f64.erf, error_function.erf)
erfc = overloaded(error_inverse_of_f64.erfc, error_function.erfc)
erfinv = overloaded(error_inverse_of_f64.erfinv, error_function.erfinv)
erfcinv = overloaded(error_inverse_of_f64.erfcinv, error_function.erfcinv)
