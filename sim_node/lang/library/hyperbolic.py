"""exp(x) - 1 and the hyperbolic functions of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import cast, muladd, raw, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import SINH_EXCEPTIONS
from sim_node.lang.library.exponential import exp2_even, exp2_odd, exp2_slope, octaves, power_of_two, within
from sim_node.lang.library.rounding import except_at

_E = SINH_EXCEPTIONS
# Beyond these every result is -1, infinite, or ±1, as it is at them.
_LEAST, _MOST, _TANH_MOST = float32(-104.0), float32(90.0), float32(20.0)


@func
def expm1(x: float32) -> float32:
    """e^x - 1, correctly rounded, also near 0."""
    parts = octaves(float64(within(x, _LEAST, _MOST)))
    power = power_of_two(parts[0])
    result = float32(muladd(power, parts[1] * exp2_slope(parts[1]), power - 1.0))
    return x if x == 0.0 else result


@func
def sinh_and_cosh(x: float64) -> Any:
    """Both, of x = (k + f)·ln 2, from those of k·ln 2, which are sums of powers of two, and of f·ln 2."""
    parts = octaves(x)
    f = parts[1]
    s = f * f
    rising = 0.5 * power_of_two(parts[0])
    falling = 0.5 * cast((2046 - raw(parts[0], uint64)) << 52, float64)
    cosine, sine = rising + falling, rising - falling
    even, odd = s * exp2_even(s), f * exp2_odd(s)
    return vector(sine + muladd(even, sine, odd * cosine), cosine + muladd(even, cosine, odd * sine))


@func
def sinh(x: float32) -> float32:
    """Hyperbolic sine, correctly rounded."""
    near = float32(sinh_and_cosh(float64(within(x, -_MOST, _MOST)))[0])
    result = except_at(x, except_at(x, near, _E[0], _E[1]), _E[2], _E[3])
    return x if x == 0.0 else result


@func
def cosh(x: float32) -> float32:
    """Hyperbolic cosine, correctly rounded."""
    return float32(sinh_and_cosh(float64(within(x, -_MOST, _MOST)))[1])


@func
def tanh(x: float32) -> float32:
    """Hyperbolic tangent, correctly rounded."""
    parts = sinh_and_cosh(float64(within(x, -_TANH_MOST, _TANH_MOST)))
    result = float32(parts[0] / parts[1])
    return x if x == 0.0 else result
