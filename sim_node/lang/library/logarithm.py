"""Logarithms of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import abs_, cast
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import (
    EDGES,
    LB_CENTRE_HEAD,
    LB_CENTRE_TAIL,
    LB_SCALE_HEAD,
    LB_SCALE_TAIL,
    LG_CENTRE_HEAD,
    LG_CENTRE_TAIL,
    LG_OCTAVE_HEAD,
    LG_OCTAVE_TAIL,
    LG_SCALE_HEAD,
    LG_SCALE_TAIL,
    LN_CENTRE_HEAD,
    LN_CENTRE_TAIL,
    LN_OCTAVE_HEAD,
    LN_OCTAVE_TAIL,
    LOG,
    RECIPROCALS,
)
from sim_node.lang.library.rounding import rest_of_any_sum, rest_of_sum, rounded_sum

_INFINITY = float32(float("inf"))
_NAN = float32(float("nan"))
# From the bits of 2^-3/8, cut to 20 of the fraction's, to those of 1: added to the bits of x = 2^k·m, with m from
# 2^-3/8 to 2^5/8, it leaves k in the exponent field.
_TO_ONE = 0x3FF0_0000_0000_0000 - 0x3FE8_ACE5_0000_0000
_ONE = 0x3FF0_0000_0000_0000
_EXPONENT = 0x7FF0_0000_0000_0000
# An exponent field put into the bits of 2^52 makes that plus the field.
_COUNT = 0x4330_0000_0000_0000
_COUNT_BIAS = 2.0**52 + 1023.0
_EDGE_1, _EDGE_2, _EDGE_3 = EDGES
_COARSE = 1.5 * 2.0**37


@func
def octaves(bits: uint64) -> float64:
    """k of x = 2^k·m with m from 2^-3/8 to 2^5/8, given the bits of x."""
    return cast(((bits + _TO_ONE) >> 52) | _COUNT, float64) - _COUNT_BIAS


@func
def significand_near_one(bits: uint64) -> float64:
    """m of x = 2^k·m with m from 2^-3/8 to 2^5/8, given the bits of x."""
    return cast((bits + _ONE) - ((bits + _TO_ONE) & _EXPONENT), float64)


@func
def quarter(m: float64, a: float64, b: float64, c: float64, d: float64) -> float64:
    """One of four values, by the quarter of an octave that m is in."""
    low = a if m < _EDGE_1 else b
    high = c if m < _EDGE_3 else d
    return low if m < _EDGE_2 else high


@func
def near_one(m: float64) -> float64:
    """m over the centre of its quarter, less 1: exact, with 26 bits, and below 1/8."""
    return m * quarter(m, RECIPROCALS[0], RECIPROCALS[1], RECIPROCALS[2], RECIPROCALS[3]) - 1.0


@func
def log_rest(z: float64) -> float64:
    """log(1+z) - z + z²/2 for |z| < 1/8."""
    s = z * z
    low = (LOG[0] + z * LOG[1]) + s * (LOG[2] + z * LOG[3])
    middle = (LOG[4] + z * LOG[5]) + s * (LOG[6] + z * LOG[7])
    high = (LOG[8] + z * LOG[9]) + s * (LOG[10] + z * LOG[11])
    q = s * s
    return z * s * (low + q * (middle + q * (high + q * LOG[12])))


@func
def assembled(whole: float64, first: float64, small: float64) -> float32:
    """Round the sum of three parts of a logarithm, ``whole`` being 0 or the largest."""
    large = whole + first
    return rounded_sum(large, rest_of_sum(large, whole, first) + small)


@func
def scaled(whole: float64, tail: float64, z: float64, scale_head: float64, scale_tail: float64) -> float32:
    """Round whole + tail + log(1+z)·scale; the products that make up most of it are exact."""
    coarse = (z + _COARSE) - _COARSE
    linear = z * scale_head
    square = -0.5 * coarse * coarse * scale_head
    first = linear + square
    small = (z * scale_tail - 0.5 * coarse * coarse * scale_tail) + (
        log_rest(z) - 0.5 * (z - coarse) * (z + coarse)
    ) * (scale_head + scale_tail)
    return assembled(whole, first, rest_of_sum(first, linear, square) + (small + tail))


@func
def log_special(x: float32, result: float32) -> float32:
    """Replace what is no logarithm: of 0, of negative numbers, infinity and NaN."""
    finite = result if x < _INFINITY else x
    real = finite if x >= 0.0 else _NAN
    return -_INFINITY if x == 0.0 else real


@func
def log(x: float32) -> float32:
    """Natural logarithm, correctly rounded; -inf at 0, NaN below."""
    bits = cast(float64(abs_(x)), uint64)
    k, m = octaves(bits), significand_near_one(bits)
    z = near_one(m)
    square = -0.5 * z * z
    first = z + square
    head = quarter(m, LN_CENTRE_HEAD[0], LN_CENTRE_HEAD[1], LN_CENTRE_HEAD[2], LN_CENTRE_HEAD[3])
    tail = quarter(m, LN_CENTRE_TAIL[0], LN_CENTRE_TAIL[1], LN_CENTRE_TAIL[2], LN_CENTRE_TAIL[3])
    small = log_rest(z) + (k * LN_OCTAVE_TAIL + tail)
    return log_special(x, assembled(k * LN_OCTAVE_HEAD + head, first, rest_of_sum(first, z, square) + small))


@func
def log2(x: float32) -> float32:
    """Logarithm to the base 2, correctly rounded; -inf at 0, NaN below."""
    bits = cast(float64(abs_(x)), uint64)
    m = significand_near_one(bits)
    head = quarter(m, LB_CENTRE_HEAD[0], LB_CENTRE_HEAD[1], LB_CENTRE_HEAD[2], LB_CENTRE_HEAD[3])
    tail = quarter(m, LB_CENTRE_TAIL[0], LB_CENTRE_TAIL[1], LB_CENTRE_TAIL[2], LB_CENTRE_TAIL[3])
    return log_special(x, scaled(octaves(bits) + head, tail, near_one(m), LB_SCALE_HEAD, LB_SCALE_TAIL))


@func
def log10(x: float32) -> float32:
    """Logarithm to the base 10, correctly rounded; -inf at 0, NaN below."""
    bits = cast(float64(abs_(x)), uint64)
    k, m = octaves(bits), significand_near_one(bits)
    head = quarter(m, LG_CENTRE_HEAD[0], LG_CENTRE_HEAD[1], LG_CENTRE_HEAD[2], LG_CENTRE_HEAD[3])
    tail = quarter(m, LG_CENTRE_TAIL[0], LG_CENTRE_TAIL[1], LG_CENTRE_TAIL[2], LG_CENTRE_TAIL[3])
    whole, small = k * LG_OCTAVE_HEAD + head, k * LG_OCTAVE_TAIL + tail
    return log_special(x, scaled(whole, small, near_one(m), LG_SCALE_HEAD, LG_SCALE_TAIL))


@func
def log1p(x: float32) -> float32:
    """log(1 + x), correctly rounded, also near 0; -inf at -1, NaN below."""
    wide = float64(x)
    sum_ = 1.0 + wide
    bits = cast(abs_(sum_), uint64)
    k, m = octaves(bits), significand_near_one(bits)
    # what the sum lost, at the scale of the significand
    lost = rest_of_any_sum(sum_, 1.0, wide) * cast(2 * _ONE - ((bits + _TO_ONE) & _EXPONENT), float64)
    short = float64(float32(m))
    z = near_one(short)
    fine = ((m - short) + lost) * quarter(short, RECIPROCALS[0], RECIPROCALS[1], RECIPROCALS[2], RECIPROCALS[3])
    square = -0.5 * z * z
    first = z + square
    head = quarter(short, LN_CENTRE_HEAD[0], LN_CENTRE_HEAD[1], LN_CENTRE_HEAD[2], LN_CENTRE_HEAD[3])
    tail = quarter(short, LN_CENTRE_TAIL[0], LN_CENTRE_TAIL[1], LN_CENTRE_TAIL[2], LN_CENTRE_TAIL[3])
    small = (fine - fine * (z + 0.5 * fine)) + (log_rest(z + fine) + (k * LN_OCTAVE_TAIL + tail))
    result = assembled(k * LN_OCTAVE_HEAD + head, first, rest_of_sum(first, z, square) + small)
    return x if x == 0.0 else log_special(x + 1.0 if x < 0.0 else x, result)
