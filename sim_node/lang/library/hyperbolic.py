"""exp(x) - 1 and the hyperbolic functions of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64
from sim_node.lang.builtins import abs_, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import LN2_HEAD, LN2_TAIL, LOG2_E
from sim_node.lang.library.exponential import exp_rest, power_of_two
from sim_node.lang.library.rounding import WHOLE, on_grid, rest_of_any_sum, rest_of_sum, rounded_quotient, rounded_sum

# Beyond these every result is -1, infinite, or 1, as it is at them.
_EXPM1_LEAST, _MOST, _TANH_MOST = -104.0, 90.0, 20.0


@func
def octave_and_rest(x: float64) -> Any:
    """WHOLE + k, and r = x - k·ln(2) in two parts, the first a multiple of 2^-26."""
    shifted = x * LOG2_E + WHOLE
    k = shifted - WHOLE
    left = x - k * LN2_HEAD
    grid = on_grid(left)
    return vector(shifted, grid, (left - grid) - k * LN2_TAIL)


@func
def exp_parts(power: float64, grid: float64, rest: float64) -> Any:
    """power·exp(grid + rest) in two parts, for a power of two and a sum below ln(2)/2."""
    first = grid + 0.5 * grid * grid
    large = 1.0 + first
    small = rest + (rest * (grid + 0.5 * rest) + exp_rest(grid + rest))
    return vector(power * large, power * (rest_of_sum(large, 1.0, first) + small))


@func
def expm1(x: float32) -> float32:
    """e^x - 1, correctly rounded, also near 0."""
    wide = float64(x)
    above = _EXPM1_LEAST if wide < _EXPM1_LEAST else wide
    parts = octave_and_rest(_MOST if above > _MOST else above)
    power = exp_parts(power_of_two(parts[0]), parts[1], parts[2])
    large = power[0] - 1.0
    result = rounded_sum(large, rest_of_any_sum(large, power[0], -1.0) + power[1])
    return x if x == 0.0 else result


@func
def exp_and_inverse(size: float64, sign: float64) -> Any:
    """(exp(size) + sign·exp(-size))/2 in two parts, for sizes from 0 on."""
    parts = octave_and_rest(size)
    rising = exp_parts(0.5 * power_of_two(parts[0]), parts[1], parts[2])
    # WHOLE - k, so that its power is the inverse
    falling = exp_parts(0.5 * power_of_two(WHOLE - (parts[0] - WHOLE)), -parts[1], -parts[2])
    large = rising[0] + sign * falling[0]
    return vector(large, rest_of_sum(large, rising[0], sign * falling[0]) + (rising[1] + sign * falling[1]))


@func
def sinh(x: float32) -> float32:
    """Hyperbolic sine, correctly rounded."""
    size = float64(abs_(x))
    parts = exp_and_inverse(_MOST if size > _MOST else size, -1.0)
    result = rounded_sum(parts[0], parts[1])
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed


@func
def cosh(x: float32) -> float32:
    """Hyperbolic cosine, correctly rounded."""
    size = float64(abs_(x))
    parts = exp_and_inverse(_MOST if size > _MOST else size, 1.0)
    return rounded_sum(parts[0], parts[1])


@func
def tanh(x: float32) -> float32:
    """Hyperbolic tangent, correctly rounded."""
    wide = float64(abs_(x))
    size = _TANH_MOST if wide > _TANH_MOST else wide
    sine, cosine = exp_and_inverse(size, -1.0), exp_and_inverse(size, 1.0)
    s, c = sine[0] + sine[1], cosine[0] + cosine[1]
    s_tail, c_tail = rest_of_sum(s, sine[0], sine[1]), rest_of_sum(c, cosine[0], cosine[1])
    result = rounded_quotient(s, s_tail, c, c_tail)
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed
