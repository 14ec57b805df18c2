"""Exponentials of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import cast, muladd, raw, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import EXP2, EXP2_EXCEPTIONS, LOG2_E_HEAD, LOG2_E_TAIL
from sim_node.lang.library.rounding import except_at

# Added to an f64 it leaves k + 1023, for the nearest whole number k, in the low bits: the exponent field of 2^k.
SHIFT = 1.5 * 2.0**52 + 1023.0

# Beyond these every result is 0 or infinite, as it is at them.
_EXP_LEAST, _EXP_MOST = float32(-104.0), float32(89.0)
_E = EXP2_EXCEPTIONS
_EXP2_LEAST, _EXP2_MOST = float32(-151.0), float32(129.0)


@func
def within(x: float32, least: float32, most: float32) -> float32:
    """Limit x; NaN stays NaN."""
    above = least if x < least else x
    return most if above > most else above


@func
def power_of_two(shifted: float64) -> float64:
    """2^k for ``shifted`` = SHIFT + k, -1022 ≤ k ≤ 1023."""
    return cast(raw(shifted, uint64) << 52, float64)


@func
def octaves(x: float64) -> Any:
    """SHIFT + k and f of e^x = 2^(k + f) with |f| ≤ 1/2, for x of 24 bits: the product with the head is exact."""
    head = x * LOG2_E_HEAD
    shifted = head + SHIFT
    return vector(shifted, muladd(x, LOG2_E_TAIL, head - (shifted - SHIFT)))


@func
def exp2_even(s: float64) -> float64:
    """(cosh(f·ln 2) - 1)/f² for s = f² up to 1/4."""
    return muladd(s, muladd(s, muladd(s, muladd(s, EXP2[9], EXP2[7]), EXP2[5]), EXP2[3]), EXP2[1])


@func
def exp2_odd(s: float64) -> float64:
    """sinh(f·ln 2)/f for s = f² up to 1/4."""
    high = muladd(s, muladd(s, muladd(s, EXP2[10], EXP2[8]), EXP2[6]), EXP2[4])
    return muladd(s, muladd(s, high, EXP2[2]), EXP2[0])


@func
def exp2_slope(f: float64) -> float64:
    """(2^f - 1)/f for |f| ≤ 1/2."""
    s = f * f
    return muladd(f, exp2_even(s), exp2_odd(s))


@func
def exp(x: float32) -> float32:
    """e^x, correctly rounded."""
    parts = octaves(float64(within(x, _EXP_LEAST, _EXP_MOST)))
    return float32(muladd(parts[1], exp2_slope(parts[1]), 1.0) * power_of_two(parts[0]))


@func
def exp2(x: float32) -> float32:
    """2^x, correctly rounded."""
    wide = float64(within(x, _EXP2_LEAST, _EXP2_MOST))
    shifted = wide + SHIFT
    f = wide - (shifted - SHIFT)
    result = float32(muladd(f, exp2_slope(f), 1.0) * power_of_two(shifted))
    return except_at(x, except_at(x, result, _E[0], _E[1]), _E[2], _E[3])
