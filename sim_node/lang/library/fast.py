"""Functions of f32 in f32 alone, by fused multiply-add: faster, within a few units, and the same bits everywhere.

Kernels with ``fast_math="reproducible"`` call these (``docs/math.md`` has their errors and ranges).
"""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, int32, uint32
from sim_node.lang.builtins import abs_, cast, fma, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import FAST_COS, FAST_EXP, FAST_LOG, FAST_SIN

_INFINITY = float32(float("inf"))
_NAN = float32(float("nan"))
# Added to an f32 it leaves the nearest whole number in the low bits.
_WHOLE = 1.5 * 2.0**23
_WHOLE_BITS = 0x4B40_0000
_LOG2_E, _LN2_HEAD, _LN2_TAIL = 1.44269504, 0.693359375, -2.12194440e-4
_QUARTERS = 0.636619772
_QUARTER_1, _QUARTER_2, _QUARTER_3 = 1.5707963705062866, -4.371139000186241e-08, -1.7151245100058819e-15
# Beyond these every exponential is 0 or infinite.
_LEAST, _MOST = -104.0, 89.0
# Up to here the number of quarter turns is known well enough.
_TURNED = 1.0e6
# The bits of 2^-1/2, and of the fraction.
_FIRST = 0x3F35_04F3
_FRACTION = 0x007F_FFFF
_ONE = 0x3F80_0000
_NORMAL, _RAISE = 1.1754943508222875e-38, 8388608.0


@func
def power_of_two(k: int32) -> float32:
    """2^k for -126 ≤ k ≤ 127."""
    return cast(uint32(k + 127) << 23, float32)


@func
def exp(x: float32) -> float32:
    """e^x within 1.1 units in the last place."""
    above = _LEAST if x < _LEAST else x
    limited = _MOST if above > _MOST else above
    shifted = fma(limited, _LOG2_E, _WHOLE)
    count = shifted - _WHOLE
    r = fma(count, -_LN2_TAIL, fma(count, -_LN2_HEAD, limited))
    high = fma(r, fma(r, FAST_EXP[4], FAST_EXP[3]), FAST_EXP[2])
    q = fma(r, fma(r, high, FAST_EXP[1]), FAST_EXP[0])
    k = cast(shifted, int32) - _WHOLE_BITS
    half = k >> 1
    return (1.0 + fma(r * r, q, r)) * power_of_two(half) * power_of_two(k - half)


@func
def log(x: float32) -> float32:
    """Natural logarithm within one unit in the last place; -inf at 0, NaN below."""
    subnormal = x < _NORMAL
    bits = cast(x * _RAISE if subnormal else x, uint32) + (_ONE - _FIRST)
    k = float32(cast(bits, int32) >> 23) - (150.0 if subnormal else 127.0)
    z = cast((bits & _FRACTION) + _FIRST, float32) - 1.0
    s = z * z
    high = fma(z, fma(z, fma(z, FAST_LOG[8], FAST_LOG[7]), FAST_LOG[6]), FAST_LOG[5])
    low = fma(z, fma(z, fma(z, fma(z, high, FAST_LOG[4]), FAST_LOG[3]), FAST_LOG[2]), FAST_LOG[1])
    small = fma(s, fma(z, low, FAST_LOG[0]), k * _LN2_TAIL)
    result = fma(k, _LN2_HEAD, small + z)
    finite = result if x < _INFINITY else x
    bad = -_INFINITY if x == 0.0 else _NAN
    return finite if x > 0.0 else bad


@func
def turn(x: float32) -> Any:
    """x less quarter turns, and WHOLE + their number (Cody, Waite)."""
    shifted = fma(x, _QUARTERS, _WHOLE)
    count = shifted - _WHOLE
    r = fma(count, -_QUARTER_3, fma(count, -_QUARTER_2, fma(count, -_QUARTER_1, x)))
    return vector(r if abs_(x) <= _TURNED else _NAN, shifted)


@func
def sine(r: float32) -> float32:
    """sin(r) for |r| ≤ π/4."""
    s = r * r
    return fma(r * s, fma(s, fma(s, FAST_SIN[2], FAST_SIN[1]), FAST_SIN[0]), r)


@func
def cosine(r: float32) -> float32:
    """cos(r) for |r| ≤ π/4."""
    s = r * r
    return fma(s * s, fma(s, fma(s, FAST_COS[2], FAST_COS[1]), FAST_COS[0]), fma(s, -0.5, 1.0))


@func
def turned(x: float32, quarters: uint32) -> float32:
    """Sine of x plus quarter turns."""
    parts = turn(x)
    count = cast(parts[1], uint32) + quarters
    value = cosine(parts[0]) if (count & 1) != 0 else sine(parts[0])
    return cast(cast(value, uint32) ^ ((count & 2) << 30), float32)


@func
def sin(x: float32) -> float32:
    """Sine of x radians within two units in the last place; NaN beyond ±10⁶."""
    return turned(x, uint32(0))


@func
def cos(x: float32) -> float32:
    """Cosine of x radians within two units in the last place; NaN beyond ±10⁶."""
    return turned(x, uint32(1))


@func
def tan(x: float32) -> float32:
    """Tangent of x radians within five units in the last place; NaN beyond ±10⁶."""
    parts = turn(x)
    s, c = sine(parts[0]), cosine(parts[0])
    odd = (cast(parts[1], uint32) & 1) != 0
    return (-c if odd else s) / (s if odd else c)
