"""Logarithms of f64, within one unit in the last place."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64, uint64
from sim_node.lang.builtins import abs_, cast, vector
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import (
    LB_CENTRE,
    LB_SCALE,
    LG_CENTRE,
    LG_OCTAVE,
    LG_SCALE,
    LN2_HEAD,
    LN2_TAIL,
    LN_CENTRE,
    LOG,
    RECIPROCAL,
)
from sim_node.lang.library.double.parts import head, rest_of_product
from sim_node.lang.library.rounding import rest_of_any_sum

_INFINITY = float64(float("inf"))
_NAN = float64(float("nan"))
# The bits of 2^-1/4, cut to 20 of the fraction's, and those of 1.
_FIRST = 0x3FEA_E89F_0000_0000
_ONE = 0x3FF0_0000_0000_0000
_FRACTION = 0x000F_FFFF_FFFF_FFFF
# An exponent field put into the bits of 2^52 makes that plus the field.
_COUNT = 0x4330_0000_0000_0000
_COUNT_BIAS = 2.0**52 + 1023.0
_EDGE = 2.0**0.25
_NORMAL = 2.0**-1022
_RAISE = 2.0**54
# From here on, what 1 + x loses is nothing.
_WIDE = 2.0**60
# log1p's own argument is the exact one up to here.
_SMALL = 0.125


@func
def octave(x: float64) -> Any:
    """k and m of x = 2^k·m with m from 2^-1/4 to 2^3/4; from 2^1/4 on it is brought near 1 by RECIPROCAL."""
    subnormal = x < _NORMAL
    bits = cast(x * _RAISE if subnormal else x, uint64) + (_ONE - _FIRST)
    k = cast((bits >> 52) | _COUNT, float64) - (_COUNT_BIAS + (54.0 if subnormal else 0.0))
    return vector(k, cast((bits & _FRACTION) + _FIRST, float64))


@func
def near_one(m: float64, lost: float64) -> Any:
    """m + lost over the centre of its half of an octave, less 1, in two parts."""
    reciprocal = float64(RECIPROCAL if m >= _EDGE else 1.0)
    first = head(m)
    large, small = first * reciprocal - 1.0, (m - first) * reciprocal
    z = large + small
    return vector(z, rest_of_any_sum(z, large, small) + lost * reciprocal)


@func
def log_rest(z: float64) -> float64:
    """log(1 + z) - z for z from 2^-1/4 - 1 to 2^1/4 - 1."""
    s = z * z
    q = s * s
    low = (LOG[0] + z * LOG[1]) + s * (LOG[2] + z * LOG[3])
    middle = (LOG[4] + z * LOG[5]) + s * (LOG[6] + z * LOG[7])
    high = (LOG[8] + z * LOG[9]) + s * (LOG[10] + z * LOG[11])
    top = (LOG[12] + z * LOG[13]) + s * (LOG[14] + z * LOG[15])
    return s * (low + q * (middle + q * (high + q * top)))


@func
def special(x: float64, result: float64) -> float64:
    """Replace what is no logarithm: of 0, of negative numbers, infinity and NaN."""
    bad = -_INFINITY if x == 0.0 else _NAN
    finite = result if x < _INFINITY else x
    return finite if x > 0.0 else bad


@func
def assembled(first: float64, second: float64, small: float64) -> float64:
    """first + second + small, the last being small."""
    large = first + second
    return large + (rest_of_any_sum(large, first, second) + small)


@func
def natural(k: float64, m: float64, z: float64, tail: float64) -> float64:
    """log of 2^k·m, whose z is known."""
    upper = m >= _EDGE
    whole = k * LN2_HEAD + (LN_CENTRE[0] if upper else 0.0)
    small = k * LN2_TAIL + (LN_CENTRE[1] if upper else 0.0)
    return assembled(whole, z, small + (tail - z * tail + log_rest(z)))


@func
def scaled(whole: float64, small: float64, z: float64, tail: float64, scale: float64, scale_tail: float64) -> float64:
    """whole + small + log(1 + z + tail)·(scale + scale_tail)."""
    product = z * scale
    rest = rest_of_product(product, z, scale) + z * scale_tail
    return assembled(whole, product, small + (rest + (tail - z * tail + log_rest(z)) * scale))


@func
def log(x: float64) -> float64:
    """Natural logarithm, within one unit in the last place; -inf at 0, NaN below."""
    parts = octave(x)
    z = near_one(parts[1], 0.0)
    return special(x, natural(parts[0], parts[1], z[0], z[1]))


@func
def log2(x: float64) -> float64:
    """Logarithm to the base 2, within one unit in the last place; -inf at 0, NaN below."""
    parts = octave(x)
    z, upper = near_one(parts[1], 0.0), parts[1] >= _EDGE
    whole = parts[0] + (LB_CENTRE[0] if upper else 0.0)
    return special(x, scaled(whole, LB_CENTRE[1] if upper else 0.0, z[0], z[1], LB_SCALE[0], LB_SCALE[1]))


@func
def log10(x: float64) -> float64:
    """Logarithm to the base 10, within one unit in the last place; -inf at 0, NaN below."""
    parts = octave(x)
    z, upper = near_one(parts[1], 0.0), parts[1] >= _EDGE
    whole = parts[0] * LG_OCTAVE[0] + (LG_CENTRE[0] if upper else 0.0)
    small = parts[0] * LG_OCTAVE[1] + (LG_CENTRE[1] if upper else 0.0)
    return special(x, scaled(whole, small, z[0], z[1], LG_SCALE[0], LG_SCALE[1]))


@func
def log1p(x: float64) -> float64:
    """log(1 + x), within one unit in the last place, also near 0; -inf at -1, NaN below."""
    total = 1.0 + x
    parts = octave(total)
    # what the sum lost, at the scale of m
    lost = rest_of_any_sum(total, 1.0, x) * cast(uint64(1023.0 - parts[0]) << 52, float64)
    z = near_one(parts[1], lost if total < _WIDE else 0.0)
    near = abs_(x) < _SMALL
    result = special(total, natural(parts[0], parts[1], x if near else z[0], 0.0 if near else z[1]))
    return x if x == 0.0 else result
