"""Sine, cosine and tangent of f32, correctly rounded for every argument, however large (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import abs_, cast, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import (
    BAND_STARTS,
    COS,
    QUARTER_HEAD,
    QUARTER_TAIL,
    SIN,
    TURN_HEAD,
    TURN_MIDDLE,
    TURN_TAIL,
)
from sim_node.lang.library.rounding import WHOLE, on_grid, rest_of_sum, rounded_quotient, rounded_sum

_START_1, _START_2, _START_3, _START_4, _START_5, _START_6 = BAND_STARTS
_H, _M, _T = TURN_HEAD, TURN_MIDDLE, TURN_TAIL
_QUARTER = QUARTER_HEAD + QUARTER_TAIL


@func
def banded(
    size: float64, c0: float64, c1: float64, c2: float64, c3: float64, c4: float64, c5: float64, c6: float64
) -> float64:
    """One of seven values, by the band that an argument of this size is in."""
    c01 = c1 if size >= _START_1 else c0
    c23 = c3 if size >= _START_3 else c2
    c45 = c5 if size >= _START_5 else c4
    c03 = c23 if size >= _START_2 else c01
    c05 = c45 if size >= _START_4 else c03
    return c6 if size >= _START_6 else c05


@func
def reduced(x: float64) -> Any:
    """x less whole quarter turns, in two parts, the first a multiple of 2^-26; and the nearest number of those.

    Payne, Hanek, 1983, "Radian Reduction for Trigonometric Functions", with the bits of 2/π that matter taken as three
    f64 by bands of the argument. The products with the first two are exact, and so is each subtraction. The number is
    in the low bits of the third component.
    """
    size = abs_(x)
    head = x * banded(size, _H[0], _H[1], _H[2], _H[3], _H[4], _H[5], _H[6])
    middle = x * banded(size, _M[0], _M[1], _M[2], _M[3], _M[4], _M[5], _M[6])
    tail = x * banded(size, _T[0], _T[1], _T[2], _T[3], _T[4], _T[5], _T[6])
    count = (head + middle) + WHOLE
    left = head - (count - WHOLE)
    turns = left + middle
    coarse = on_grid(turns)
    fine = (turns - coarse) + (rest_of_sum(turns, left, middle) + tail)
    large = coarse * QUARTER_HEAD
    grid = on_grid(large)
    return vector(grid, (large - grid) + (coarse * QUARTER_TAIL + fine * _QUARTER), count)


@func
def sin_rest(z: float64) -> float64:
    """sin(z) - z for |z| ≤ π/4."""
    s = z * z
    q = s * s
    low = (SIN[0] + s * SIN[1]) + q * (SIN[2] + s * SIN[3])
    high = (SIN[4] + s * SIN[5]) + q * (SIN[6] + s * SIN[7])
    return z * s * (low + q * q * high)


@func
def cos_rest(z: float64) -> float64:
    """cos(z) - 1 + z²/2 for |z| ≤ π/4."""
    s = z * z
    q = s * s
    low = (COS[0] + s * COS[1]) + q * (COS[2] + s * COS[3])
    high = (COS[4] + s * COS[5]) + q * (COS[6] + s * COS[7])
    return q * (low + q * q * high)


@func
def sin_part(grid: float64, rest: float64) -> float64:
    """sin(grid + rest) - grid for angles up to π/4."""
    return rest + sin_rest(grid + rest)


@func
def cos_parts(grid: float64, rest: float64) -> Any:
    """cos(grid + rest) for angles up to π/4, in two parts; ``grid`` is a multiple of 2^-26: its square is exact."""
    square = -0.5 * grid * grid
    large = 1.0 + square
    return vector(large, rest_of_sum(large, 1.0, square) + (cos_rest(grid + rest) - rest * (grid + 0.5 * rest)))


@func
def turned(x: float32, quarters: uint64) -> float32:
    """Sine of x plus quarter turns."""
    angle = reduced(float64(x))
    count = cast(angle[2], uint64) + quarters
    odd = (count & 1) != 0
    cosine = cos_parts(angle[0], angle[1])
    sine = sin_part(angle[0], angle[1])
    large, small, grid = cosine[0], cosine[1], angle[0]
    result = rounded_sum(large if odd else grid, small if odd else sine)
    return -result if (count & 2) != 0 else result


@func
def sin(x: float32) -> float32:
    """Sine of x radians, correctly rounded; NaN at infinity."""
    result = turned(x, uint64(0))
    return x if x == 0.0 else result


@func
def cos(x: float32) -> float32:
    """Cosine of x radians, correctly rounded; NaN at infinity."""
    return turned(x, uint64(1))


@func
def tan(x: float32) -> float32:
    """Tangent of x radians, correctly rounded; NaN at infinity."""
    angle = reduced(float64(x))
    odd = (cast(angle[2], uint64) & 1) != 0
    cosine = cos_parts(angle[0], angle[1])
    sine = sin_part(angle[0], angle[1])
    c, s = cosine[0] + cosine[1], angle[0] + sine
    c_tail, s_tail = rest_of_sum(c, cosine[0], cosine[1]), rest_of_sum(s, angle[0], sine)
    above, above_tail = -c if odd else s, -c_tail if odd else s_tail
    below, below_tail = s if odd else c, s_tail if odd else c_tail
    result = rounded_quotient(above, above_tail, below, below_tail)
    return x if x == 0.0 else result
