"""Exponentials of f64, within one unit in the last place."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64
from sim_node.lang.builtins import abs_, vector
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import EXP, LN2, LN2_HEAD, LN2_REST, LN2_TAIL, LOG2_E
from sim_node.lang.library.double.parts import counted, power_of_two, rest_of_product, scaled, whole
from sim_node.lang.library.rounding import WHOLE, rest_of_any_sum, rest_of_sum

# Beyond these every result is 0 or infinite, or -1, as it is at them.
_LEAST, _MOST = -750.0, 710.0
_EXP2_LEAST, _EXP2_MOST = -1080.0, 1030.0
_EXPM1_LEAST = -50.0
# From here on 1 is less than half a unit in the last place of e^x, below here x² of x.
_LARGE, _TINY = 40.0, 2.0**-54


@func
def within(x: float64, least: float64, most: float64) -> float64:
    """Limit x; NaN stays NaN."""
    above = least if x < least else x
    return most if above > most else above


@func
def reduced(x: float64, x_tail: float64) -> Any:
    """r, its tail, and WHOLE + k, of x + x_tail = k·ln 2 + r."""
    shifted = whole(x * LOG2_E)
    k = shifted - WHOLE
    left, right = x - k * LN2_HEAD, k * LN2_TAIL - x_tail
    r = left - right
    return vector(r, rest_of_any_sum(r, left, -right), shifted)


@func
def exp_even_rest(s: float64) -> float64:
    """(cosh(r) - 1 - EXP[0]·r²)/r⁴ for s = r² up to (ln(2)/2)²; EXP[0] is 1/2 but for its last digits."""
    q = s * s
    return (EXP[2] + s * EXP[4]) + q * ((EXP[6] + s * EXP[8]) + q * EXP[10])


@func
def exp_even(s: float64) -> float64:
    """(cosh(r) - 1)/r² for s = r² up to (ln(2)/2)²."""
    return EXP[0] + s * exp_even_rest(s)


@func
def exp_odd(s: float64) -> float64:
    """(sinh(r) - r)/r³ for s = r² up to (ln(2)/2)²."""
    q = s * s
    return (EXP[1] + s * EXP[3]) + q * ((EXP[5] + s * EXP[7]) + q * (EXP[9] + s * EXP[11]))


@func
def exp_rest(r: float64) -> float64:
    """exp(r) - 1 - r for |r| ≤ ln(2)/2."""
    s = r * r
    return s * (exp_even(s) + r * exp_odd(s))


@func
def exp_near(r: float64, tail: float64) -> float64:
    """exp(r + tail) for |r| ≤ ln(2)/2."""
    large = 1.0 + r
    return large + (rest_of_sum(large, 1.0, r) + (tail + (exp_rest(r) + r * tail)))


@func
def exp_pair(x: float64, x_tail: float64) -> float64:
    """e^(x + x_tail); the tail is below half a unit in the last place."""
    parts = reduced(x, x_tail)
    return scaled(exp_near(parts[0], parts[1]), counted(parts[2]))


@func
def exp(x: float64) -> float64:
    """e^x, within one unit in the last place."""
    return exp_pair(within(x, _LEAST, _MOST), 0.0)


@func
def exp2(x: float64) -> float64:
    """2^x, within one unit in the last place."""
    limited = within(x, _EXP2_LEAST, _EXP2_MOST)
    shifted = whole(limited)
    f = limited - (shifted - WHOLE)
    r = f * LN2
    return scaled(exp_near(r, rest_of_product(r, f, LN2) + f * LN2_REST), counted(shifted))


@func
def expm1(x: float64) -> float64:
    """e^x - 1, within one unit in the last place, also near 0."""
    parts = reduced(within(x, _EXPM1_LEAST, _LARGE), 0.0)
    r, tail = parts[0], parts[1]
    power = power_of_two(counted(parts[2]))
    # 2^k·(1 + r + r²/2 + …) - 1: the first terms' sum with what it loses
    square = r * r
    first, second, third = power - 1.0, power * r, power * 0.5 * square
    start = first + second
    large = start + third
    lost = rest_of_sum(first, power, -1.0) if power > 1.0 else 0.0
    lost += rest_of_any_sum(start, first, second) + rest_of_any_sum(large, start, third)
    rest = square * (square * exp_even_rest(square) + r * exp_odd(square)) + square * (EXP[0] - 0.5)
    near = large + (lost + power * (rest + 0.5 * rest_of_product(square, r, r) + (tail + r * tail)))
    result = exp(x) if x > _LARGE else near
    return x if abs_(x) < _TINY else result
