"""Logarithms of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import abs_, cast, muladd, raw, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import (
    LB_CENTRE,
    LB_SCALE,
    LG_CENTRE,
    LG_OCTAVE,
    LG_SCALE,
    LN_CENTRE,
    LN_OCTAVE,
    LOG,
    LOG1P_EXCEPTIONS,
    LOG10_EXCEPTIONS,
    RECIPROCAL,
)
from sim_node.lang.library.rounding import except_at

_INFINITY = float64(float("inf"))
_NAN = float64(float("nan"))
# The bits of 2^-1/4, cut to 20 of the fraction's, and those of 1.
_FIRST = 0x3FEA_E89F_0000_0000
_ONE = 0x3FF0_0000_0000_0000
_FRACTION = 0x000F_FFFF_FFFF_FFFF
# An exponent field put into the bits of 2^52 makes that plus the field.
_COUNT = 0x4330_0000_0000_0000
_COUNT_BIAS = 2.0**52 + 1023.0
EDGE = 2.0**0.25
_E, _P = LOG10_EXCEPTIONS, LOG1P_EXCEPTIONS
# log1p's own argument is the exact one up to here.
_SMALL = 0.125


@func
def scaled(x: float64) -> Any:
    """k and m of x = 2^k·m with m from 2^-1/4 to 2^3/4; from EDGE on it is brought near 1 by RECIPROCAL."""
    bits = raw(x, uint64) + (_ONE - _FIRST)
    m = cast((bits & _FRACTION) + _FIRST, float64)
    return vector(cast((bits >> 52) | _COUNT, float64) - _COUNT_BIAS, m)


@func
def log_near_one(z: float64) -> float64:
    """log(1 + z) for z from 2^-1/4 - 1 to 2^1/4 - 1."""
    s = z * z
    odd = muladd(s, muladd(s, muladd(s, muladd(s, LOG[13], LOG[11]), LOG[9]), LOG[7]), LOG[5])
    even = muladd(s, muladd(s, muladd(s, LOG[12], LOG[10]), LOG[8]), LOG[6])
    odd, even = muladd(s, muladd(s, odd, LOG[3]), LOG[1]), muladd(s, muladd(s, muladd(s, even, LOG[4]), LOG[2]), LOG[0])
    return muladd(s, muladd(z, odd, even), z)


@func
def near_one(m: float64) -> float64:
    """m over the centre of its half of an octave, less 1: exact for m of 24 bits."""
    return muladd(m, RECIPROCAL if m >= EDGE else 1.0, -1.0)


@func
def log_special(x: float64, result: float64) -> float32:
    """Replace what is no logarithm: of 0, of negative numbers, infinity and NaN."""
    bad = -_INFINITY if x == 0.0 else _NAN
    finite = cast(raw(result, uint64) | 1, float64) if x < _INFINITY else x
    return float32(finite if x > 0.0 else bad)


@func
def log(x: float32) -> float32:
    """Natural logarithm, correctly rounded; -inf at 0, NaN below."""
    wide = float64(x)
    parts = scaled(wide)
    k, m = parts[0], parts[1]
    whole = muladd(k, LN_OCTAVE, LN_CENTRE if m >= EDGE else 0.0)
    return log_special(wide, whole + log_near_one(near_one(m)))


@func
def log2(x: float32) -> float32:
    """Logarithm to the base 2, correctly rounded; -inf at 0, NaN below."""
    wide = float64(x)
    parts = scaled(wide)
    k, m = parts[0], parts[1]
    whole = k + (LB_CENTRE if m >= EDGE else 0.0)
    return log_special(wide, muladd(log_near_one(near_one(m)), LB_SCALE, whole))


@func
def log10(x: float32) -> float32:
    """Logarithm to the base 10, correctly rounded; -inf at 0, NaN below."""
    wide = float64(x)
    parts = scaled(wide)
    k, m = parts[0], parts[1]
    whole = muladd(k, LG_OCTAVE, LG_CENTRE if m >= EDGE else 0.0)
    result = log_special(wide, muladd(log_near_one(near_one(m)), LG_SCALE, whole))
    return except_at(
        x, except_at(x, except_at(x, except_at(x, result, _E[0], _E[1]), _E[2], _E[3]), _E[4], _E[5]), _E[6], _E[7]
    )


@func
def log1p(x: float32) -> float32:
    """log(1 + x), correctly rounded, also near 0; -inf at -1, NaN below."""
    wide = float64(x)
    sum_ = 1.0 + wide
    parts = scaled(sum_)
    k, m = parts[0], parts[1]
    whole = muladd(k, LN_OCTAVE, LN_CENTRE if m >= EDGE else 0.0)
    z = wide if abs_(x) < _SMALL else near_one(m)
    near = log_special(sum_, whole + log_near_one(z))
    result = except_at(
        x, except_at(x, except_at(x, except_at(x, near, _P[0], _P[1]), _P[2], _P[3]), _P[4], _P[5]), _P[6], _P[7]
    )
    return x if x == 0.0 else result
