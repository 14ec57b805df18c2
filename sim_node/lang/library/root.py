"""The cube root of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, uint32, uint64
from sim_node.lang.builtins import abs_, cast, muladd, raw
from sim_node.lang.func import func

_INFINITY = float32(float("inf"))
_THIRD = 1.0 / 3.0
# Less a third of the upper half of an f64 it is that of one over its cube root, within 2^-4.8.
# The idea is Kahan's; see FreeBSD's msun, s_cbrt.c.
_START = 0x553EE800


@func
def inverse_root(r: float64, a: float64) -> float64:
    """Come closer to one over the cube root of a: four times as many digits are right."""
    e = muladd(-a * r, r * r, 1.0)
    return muladd(r * e, muladd(e, muladd(e, 14.0 / 81.0, 2.0 / 9.0), _THIRD), r)


@func
def cbrt(x: float32) -> float32:
    """Cube root, correctly rounded."""
    a = float64(abs_(x))
    start = cast(uint64(_START - uint32(raw(a, uint64) >> 32) // 3) << 32, float64)
    r = inverse_root(inverse_root(start, a), a)
    short = float64(float32(a * (r * r)))
    # a - short³ without error, which by the root's square says how far short is off
    square = short * short
    square_head = float64(float32(square))
    left = (a - square_head * short) - (square - square_head) * short
    off = left * (r * r * _THIRD)
    result = float32(short + (off + off * off * r))
    signed = -result if x < 0.0 else result
    plain = signed if abs_(x) < _INFINITY else x
    return x if x == 0.0 else plain
