"""Sine, cosine and tangent of f32, correctly rounded for every argument, however large (``docs/math.md``)."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import abs_, cast, muladd, raw, vector
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import (
    BAND_STARTS,
    COS,
    COS_SHIFTED,
    SIN,
    TURN_HEAD,
    TURN_MIDDLE,
    TURN_TAIL,
)
from sim_node.lang.library.rounding import WHOLE

_START_1, _START_2, _START_3 = (float32(start) for start in BAND_STARTS)
_H, _M, _T, _C = TURN_HEAD, TURN_MIDDLE, TURN_TAIL, COS_SHIFTED
# Added to an f64 it leaves the nearest multiple of 1/2, in halves, in the low bits.
_HALVES = WHOLE / 2


@func
def banded(size: float32, c0: float64, c1: float64, c2: float64, c3: float64) -> float64:
    """One of four values, by the band that an argument of this size is in."""
    c01 = c1 if size >= _START_1 else c0
    c23 = c3 if size >= _START_3 else c2
    return c23 if size >= _START_2 else c01


@func
def half_turns(x: float32) -> Any:
    """x/π less a multiple of 2, as the sum of two exact products, and of x with the third component.

    Payne, Hanek, 1983, "Radian Reduction for Trigonometric Functions", with the bits of 1/π that matter taken as three
    f64 by bands of the argument.
    """
    size, wide = abs_(x), float64(x)
    head = wide * banded(size, _H[0], _H[1], _H[2], _H[3])
    middle = wide * banded(size, _M[0], _M[1], _M[2], _M[3])
    return vector(head, middle, banded(size, _T[0], _T[1], _T[2], _T[3]))


@func
def odd_series(
    t: float64,
    c0: float64,
    c1: float64,
    c2: float64,
    c3: float64,
    c4: float64,
    c5: float64,
    c6: float64,
    c7: float64,
    c8: float64,
) -> float64:
    """t·(c0 + c1·t² + … + c8·t^16)."""
    s = t * t
    q = s * s
    odd = muladd(q, muladd(q, muladd(q, c7, c5), c3), c1)
    even = muladd(q, muladd(q, muladd(q, muladd(q, c8, c6), c4), c2), c0)
    return t * muladd(s, odd, even)  # fmt: skip


@func
def sine(t: float64) -> float64:
    """sin(π·t) for |t| ≤ 1/2."""
    return odd_series(t, SIN[0], SIN[1], SIN[2], SIN[3], SIN[4], SIN[5], SIN[6], SIN[7], SIN[8])


@func
def cosine(t: float64) -> float64:
    """cos(π·t) for |t| ≤ 1/4."""
    s = t * t
    q = s * s
    odd = muladd(q, muladd(q, COS[6], COS[4]), COS[2])
    even = muladd(q, muladd(q, muladd(q, COS[7], COS[5]), COS[3]), COS[1])
    return muladd(s, muladd(q, odd, muladd(s, even, COS[0])), 1.0)


@func
def signed(value: float64, shifted: float64) -> float32:
    """The value, negative where the lowest bit of ``shifted`` is set, rounded."""
    return float32(cast(raw(value, uint64) ^ (raw(shifted, uint64) << 63), float64))


@func
def sin(x: float32) -> float32:
    """Sine of x radians, correctly rounded; NaN at infinity."""
    turns = half_turns(x)
    shifted = (turns[0] + turns[1]) + WHOLE
    left = turns[0] - (shifted - WHOLE)
    return signed(sine(muladd(float64(x), turns[2], left + turns[1])), shifted)


@func
def cos(x: float32) -> float32:
    """Cosine of x radians, correctly rounded; NaN at infinity."""
    turns = half_turns(x)
    shifted = ((turns[0] + 0.5) + turns[1]) + WHOLE
    left = turns[0] - ((shifted - WHOLE) - 0.5)
    t = muladd(float64(x), turns[2], left + turns[1])
    return signed(odd_series(t, _C[0], _C[1], _C[2], _C[3], _C[4], _C[5], _C[6], _C[7], _C[8]), shifted)


@func
def tan(x: float32) -> float32:
    """Tangent of x radians, correctly rounded; NaN at infinity."""
    turns = half_turns(x)
    shifted = (turns[0] + turns[1]) + _HALVES
    left = turns[0] - (shifted - _HALVES)
    t = muladd(float64(x), turns[2], left + turns[1])
    odd = (raw(shifted, uint64) & 1) != 0
    s, c = sine(t), cosine(t)
    return float32((-c if odd else s) / (s if odd else c))
