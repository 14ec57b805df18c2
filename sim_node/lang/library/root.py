"""The cube root of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, uint32, uint64
from sim_node.lang.builtins import abs_, cast
from sim_node.lang.func import func
from sim_node.lang.library.rounding import rounded_sum

_INFINITY = float32(float("inf"))
# A third of an exponent, in the upper half of an f64: what is to be added to make the root's, within 2^-5.
# FreeBSD's msun, s_cbrt.c.
_THIRD = 715094163


@func
def halley(y: float64, a: float64) -> float64:
    """Come closer to the cube root of a: three times as many digits are right."""
    cube = y * y * y
    return y * ((cube + 2.0 * a) / (2.0 * cube + a))


@func
def cbrt(x: float32) -> float32:
    """Cube root, correctly rounded."""
    a = float64(abs_(x))
    upper = uint32(cast(a, uint64) >> 32) // 3 + _THIRD
    y = halley(halley(cast(uint64(upper) << 32, float64), a), a)
    short = float64(float32(y))
    # a - short³ without error, and the product of the root's distance from short and a sum of squares
    square = short * short
    square_head = float64(float32(square))
    left = (a - square_head * short) - (square - square_head) * short
    result = rounded_sum(short, left / (y * y + y * short + square))
    signed = -result if x < 0.0 else result
    plain = signed if abs_(x) < _INFINITY else x
    return x if x == 0.0 else plain
