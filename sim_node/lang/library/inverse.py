"""Inverse sine, cosine and tangent of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64
from sim_node.lang.builtins import abs_, muladd, sqrt, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import ACOS_EXCEPTIONS, ASIN, ATAN, ATAN_EXCEPTIONS
from sim_node.lang.library.rounding import except_at

_E = ACOS_EXCEPTIONS
_PI, _HALF_PI, _QUARTER_PI = 3.141592653589793, 1.5707963267948966, 0.7853981633974483
# tan(π/8) and tan(3π/8), to the digits that matter
_EDGE_LOW, _EDGE_HIGH = 0.41421356, 2.41421356
# Beyond this every inverse tangent rounds to ±π/2.
_ATAN_MOST = 2.0**60


@func
def asin_near(t: float64, y: float64) -> float64:
    """asin(t) for |t| up to 1/2 and y = t²."""
    q = y * y
    b = muladd(q, ASIN[13], ASIN[11])
    odd = muladd(q, muladd(q, muladd(q, muladd(q, muladd(q, b, ASIN[9]), ASIN[7]), ASIN[5]), ASIN[3]), ASIN[1])
    high = muladd(q, muladd(q, muladd(q, ASIN[14], ASIN[12]), ASIN[10]), ASIN[8])
    even = muladd(q, muladd(q, muladd(q, muladd(q, high, ASIN[6]), ASIN[4]), ASIN[2]), ASIN[0])
    return muladd(t * y, muladd(y, odd, even), t)


@func
def atan_near(t: float64) -> float64:
    """atan(t) for |t| up to tan(π/8)."""
    y = t * t
    q = y * y
    b = muladd(q, ATAN[13], ATAN[11])
    odd = muladd(q, muladd(q, muladd(q, muladd(q, muladd(q, b, ATAN[9]), ATAN[7]), ATAN[5]), ATAN[3]), ATAN[1])
    high = muladd(q, muladd(q, muladd(q, ATAN[14], ATAN[12]), ATAN[10]), ATAN[8])
    even = muladd(q, muladd(q, muladd(q, muladd(q, high, ATAN[6]), ATAN[4]), ATAN[2]), ATAN[0])
    return muladd(t * y, muladd(y, odd, even), t)


@func
def folded(size: float64) -> Any:
    """t and t² whose inverse sine is asin(size), or, beyond 1/2, (π/2 - asin(size))/2; NaN beyond 1."""
    half = 0.5 - 0.5 * size
    outer = size > 0.5
    return vector(sqrt(half) if outer else size, half if outer else size * size)


@func
def asin(x: float32) -> float32:
    """Inverse sine, correctly rounded; NaN beyond ±1."""
    size = float64(abs_(x))
    parts = folded(size)
    near = asin_near(parts[0], parts[1])
    result = float32(_HALF_PI - 2.0 * near if size > 0.5 else near)
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed


@func
def acos(x: float32) -> float32:
    """Inverse cosine, correctly rounded; NaN beyond ±1."""
    wide = float64(x)
    size = abs_(wide)
    parts = folded(size)
    near = asin_near(parts[0], parts[1])
    outer = 2.0 * near if wide > 0.0 else _PI - 2.0 * near
    inner = _HALF_PI - near if wide > 0.0 else _HALF_PI + near
    result = float32(outer if size > 0.5 else inner)
    return except_at(x, except_at(x, result, _E[0], _E[1]), _E[2], _E[3])


@func
def atan(x: float32) -> float32:
    """Inverse tangent, correctly rounded."""
    wide = float64(abs_(x))
    size = _ATAN_MOST if wide > _ATAN_MOST else wide
    low, high = size < _EDGE_LOW, size > _EDGE_HIGH
    # atan(x) = base + atan(above/below), both exact, and the quotient within ±tan(π/8)
    above = -1.0 if high else size - 1.0
    below = size if high else size + 1.0
    base = float64(_HALF_PI if high else _QUARTER_PI)
    near = atan_near((size if low else above) / (1.0 if low else below))
    result = except_at(abs_(x), float32((0.0 if low else base) + near), ATAN_EXCEPTIONS[0], ATAN_EXCEPTIONS[1])
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed
