"""Inverse sine, cosine and tangent of f64, and the angle of a point, within one unit in the last place."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64, uint64
from sim_node.lang.builtins import abs_, cast, sqrt, vector
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import ASIN, ATAN, HALF_PI, QUARTER_PI
from sim_node.lang.library.double.parts import rest_of_product
from sim_node.lang.library.rounding import rest_of_any_sum, rest_of_sum

_H, _H_TAIL = HALF_PI
_Q, _Q_TAIL = QUARTER_PI
_INFINITY = float64(float("inf"))
# tan(π/8), to the digits that matter
_EDGE = 0.41421356
# Below here x³ is less than half a unit in the last place of x.
_TINY = 2.0**-28
# Sides beyond these are brought between them, so that their sums and products neither overflow nor vanish.
_LARGE, _SMALL, _LOWER, _RAISE = 2.0**1000, 2.0**-800, 2.0**-100, 2.0**200


@func
def asin_rest(y: float64) -> float64:
    """asin(t)/t - 1 for y = t² up to 1/4."""
    s = y * y
    q = s * s
    a = (ASIN[0] + y * ASIN[1]) + s * (ASIN[2] + y * ASIN[3])
    b = (ASIN[4] + y * ASIN[5]) + s * (ASIN[6] + y * ASIN[7])
    c = (ASIN[8] + y * ASIN[9]) + s * (ASIN[10] + y * ASIN[11])
    d = (ASIN[12] + y * ASIN[13]) + s * ASIN[14]
    return y * (a + q * (b + q * (c + q * d)))


@func
def atan_rest(y: float64) -> float64:
    """atan(t)/t - 1 for y = t² up to tan(π/8)²."""
    s = y * y
    q = s * s
    a = (ATAN[0] + y * ATAN[1]) + s * (ATAN[2] + y * ATAN[3])
    b = (ATAN[4] + y * ATAN[5]) + s * (ATAN[6] + y * ATAN[7])
    c = (ATAN[8] + y * ATAN[9]) + s * (ATAN[10] + y * ATAN[11])
    d = (ATAN[12] + y * ATAN[13]) + s * ATAN[14]
    return y * (a + q * (b + q * (c + q * d)))


@func
def asin_of_root(y: float64) -> Any:
    """asin(√y) for y from 0 to 1/4, in two parts; NaN below 0."""
    root = sqrt(y)
    lost = (y - root * root) - rest_of_product(root * root, root, root)
    return vector(root, lost / (1.0 if root == 0.0 else 2.0 * root) + root * asin_rest(y))


@func
def asin(x: float64) -> float64:
    """Inverse sine, within one unit in the last place; NaN beyond ±1."""
    size = abs_(x)
    parts = asin_of_root(0.5 - 0.5 * size)
    large = _H - 2.0 * parts[0]
    outer = large + (rest_of_sum(large, _H, -2.0 * parts[0]) + (_H_TAIL - 2.0 * parts[1]))
    result = outer if size > 0.5 else size + size * asin_rest(size * size)
    signed = -result if x < 0.0 else result
    return x if size < _TINY else signed


@func
def acos(x: float64) -> float64:
    """Inverse cosine, within one unit in the last place; NaN beyond ±1."""
    size = abs_(x)
    parts = asin_of_root(0.5 - 0.5 * size)
    right = 2.0 * (parts[0] + parts[1])
    large = 2.0 * _H - 2.0 * parts[0]
    left = large + (rest_of_sum(large, 2.0 * _H, -2.0 * parts[0]) + (2.0 * _H_TAIL - 2.0 * parts[1]))
    middle = _H - x
    inner = middle + (rest_of_sum(middle, _H, -x) + (_H_TAIL - x * asin_rest(x * x)))
    outer = right if x > 0.0 else left
    return inner if size <= 0.5 else outer


@func
def atan_of_quotient(least: float64, most: float64) -> Any:
    """atan(least/most) in two parts, for 0 ≤ least ≤ most."""
    middle = least > _EDGE * most
    above = least - most if middle else least
    below = least + most if middle else most
    above_tail = rest_of_any_sum(above, least, -most) if middle else 0.0
    below_tail = rest_of_any_sum(below, least, most) if middle else 0.0
    divisor = 1.0 if below == 0.0 else below
    q = above / divisor
    product = q * divisor
    rest = ((above - product) - rest_of_product(product, q, divisor)) + (above_tail - q * below_tail)
    # of a quotient so small that the rest would vanish, it is less than half a unit in the last place
    lost = rest / divisor if abs_(q) > _TINY else 0.0
    s = q * q
    base, base_tail = float64(_Q if middle else 0.0), float64(_Q_TAIL if middle else 0.0)
    large = base + q
    small = rest_of_any_sum(large, base, q) + (base_tail + (lost * (1.0 - s) + q * atan_rest(s)))
    return vector(large, small)


@func
def less_than(large: float64, base: float64, base_tail: float64, small: float64) -> Any:
    """base + base_tail - (large + small) in two parts."""
    total = base - large
    return vector(total, rest_of_any_sum(total, base, -large) + (base_tail - small))


@func
def atan(x: float64) -> float64:
    """Inverse tangent, within one unit in the last place."""
    size = abs_(x)
    limited = _LARGE if size > _LARGE else size
    steep = size > 1.0
    parts = atan_of_quotient(1.0 if steep else limited, limited if steep else 1.0)
    complement = less_than(parts[0], _H, _H_TAIL, parts[1])
    result = complement[0] + complement[1] if steep else parts[0] + parts[1]
    signed = -result if x < 0.0 else result
    return x if size < _TINY or x != x else signed


@func
def atan2(y: float64, x: float64) -> float64:
    """Angle of the point (x, y) from the x axis, within one unit in the last place; C99's special values."""
    across, up = abs_(x), abs_(y)
    steep = up > across
    # of two infinite sides the angle is that of equal ones
    endless = across == _INFINITY and up == _INFINITY
    least, most = 1.0 if endless else (across if steep else up), 1.0 if endless else (up if steep else across)
    scale = float64(_LOWER if most > _LARGE else (_RAISE if most < _SMALL else 1.0))
    far = most == _INFINITY
    parts = atan_of_quotient(0.0 if far else least * scale, 1.0 if far else most * scale)
    complement = less_than(parts[0], _H, _H_TAIL, parts[1])
    large, small = complement[0] if steep else parts[0], complement[1] if steep else parts[1]
    opposite = less_than(large, 2.0 * _H, 2.0 * _H_TAIL, small)
    left = (cast(x, uint64) >> 63) != 0
    angle = opposite[0] + opposite[1] if left else large + small
    result = -angle if (cast(y, uint64) >> 63) != 0 else angle
    return x + y if x != x or y != y else result
