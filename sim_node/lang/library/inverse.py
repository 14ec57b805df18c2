"""Inverse sine, cosine and tangent of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64
from sim_node.lang.builtins import abs_, sqrt, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import ASIN, ATAN, HALF_PI, QUARTER_PI
from sim_node.lang.library.rounding import rest_of_any_sum, rest_of_sum, rounded_sum

_HALF_PI, _HALF_PI_TAIL = HALF_PI
_QUARTER_PI, _QUARTER_PI_TAIL = QUARTER_PI
# tan(π/8) and tan(3π/8), to the digits that matter
_EDGE_LOW, _EDGE_HIGH = 0.41421356, 2.41421356
# Beyond this every inverse tangent rounds to ±π/2.
_ATAN_MOST = 2.0**60


@func
def asin_rest(y: float64) -> float64:
    """(asin(t)/t - 1) for y = t² up to 1/4."""
    s = y * y
    q = s * s
    a = (ASIN[0] + y * ASIN[1]) + s * (ASIN[2] + y * ASIN[3])
    b = (ASIN[4] + y * ASIN[5]) + s * (ASIN[6] + y * ASIN[7])
    c = (ASIN[8] + y * ASIN[9]) + s * (ASIN[10] + y * ASIN[11])
    d = (ASIN[12] + y * ASIN[13]) + s * ASIN[14]
    return y * (a + q * (b + q * (c + q * d)))


@func
def atan_rest(y: float64) -> float64:
    """(atan(t)/t - 1) for y = t² up to tan(π/8)²."""
    s = y * y
    q = s * s
    a = (ATAN[0] + y * ATAN[1]) + s * (ATAN[2] + y * ATAN[3])
    b = (ATAN[4] + y * ATAN[5]) + s * (ATAN[6] + y * ATAN[7])
    c = (ATAN[8] + y * ATAN[9]) + s * (ATAN[10] + y * ATAN[11])
    d = (ATAN[12] + y * ATAN[13]) + s * ATAN[14]
    return y * (a + q * (b + q * (c + q * d)))


@func
def asin_of_root(y: float64) -> Any:
    """asin(√y) for y of 25 bits from 0 to 1/4, in two parts, the first of 24 bits; NaN below 0."""
    root = sqrt(y)
    short = float64(float32(root))
    # y - short² is exact, and the product of the root's distance from short and their sum
    both = root + short
    left = (y - short * short) / (1.0 if both == 0.0 else both)
    return vector(short, left + root * asin_rest(y))


@func
def asin(x: float32) -> float32:
    """Inverse sine, correctly rounded; NaN beyond ±1."""
    size = float64(abs_(x))
    outer = size > 0.5
    square, half = size * size, 0.5 - 0.5 * size
    parts = asin_of_root(half)
    folded = _HALF_PI - 2.0 * parts[0]
    folded_small = rest_of_sum(folded, _HALF_PI, -2.0 * parts[0]) + (_HALF_PI_TAIL - 2.0 * parts[1])
    plain_small = size * asin_rest(square)
    result = rounded_sum(folded if outer else size, folded_small if outer else plain_small)
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed


@func
def acos(x: float32) -> float32:
    """Inverse cosine, correctly rounded; NaN beyond ±1."""
    wide = float64(x)
    size = abs_(wide)
    parts = asin_of_root(0.5 - 0.5 * size)
    left, left_small = 2.0 * parts[0], 2.0 * parts[1]
    right = 2.0 * _HALF_PI - left
    right_small = rest_of_sum(right, 2.0 * _HALF_PI, -left) + (2.0 * _HALF_PI_TAIL - left_small)
    middle = _HALF_PI - wide
    middle_small = rest_of_sum(middle, _HALF_PI, -wide) + (_HALF_PI_TAIL - wide * asin_rest(wide * wide))
    outer, outer_small = left if wide > 0.0 else right, left_small if wide > 0.0 else right_small
    inner = size <= 0.5
    return rounded_sum(middle if inner else outer, middle_small if inner else outer_small)


@func
def atan(x: float32) -> float32:
    """Inverse tangent, correctly rounded."""
    wide = float64(abs_(x))
    size = _ATAN_MOST if wide > _ATAN_MOST else wide
    low, high = size < _EDGE_LOW, size > _EDGE_HIGH
    # atan(x) = base + atan(above/below), both exact, and the quotient within ±tan(π/8)
    above = -1.0 if high else size - 1.0
    numerator = size if low else above
    below = size if high else size + 1.0
    denominator = 1.0 if low else below
    base = _HALF_PI if high else float64(_QUARTER_PI)
    base_tail = _HALF_PI_TAIL if high else float64(_QUARTER_PI_TAIL)
    start = 0.0 if low else base
    start_tail = 0.0 if low else base_tail
    reciprocal = 1.0 / denominator
    quotient = numerator * reciprocal
    short = float64(float32(quotient))
    left = (numerator - short * denominator) * reciprocal
    large = start + short
    small = rest_of_any_sum(large, start, short) + (start_tail + (left + quotient * atan_rest(quotient * quotient)))
    result = rounded_sum(large, small)
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed
