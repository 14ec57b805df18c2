"""The error function of f32, correctly rounded for every argument, and its kin by way of f64 (``docs/math.md``)."""

from __future__ import annotations

from sim_node.dtypes import float32, float64
from sim_node.lang.builtins import abs_, muladd
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import ERF, ERFC
from sim_node.lang.library.double import error_inverse
from sim_node.lang.library.exponential import SHIFT, exp2_slope, power_of_two

_LOG2_E = 1.4426950408889634
# From here on the result is 1.
_MOST = 4.0


@func
def erf_slope(s: float64) -> float64:
    """erf(x)/x for s = x² up to 1."""
    q = s * s
    odd = muladd(q, muladd(q, muladd(q, muladd(q, ERF[11], ERF[9]), ERF[7]), ERF[5]), ERF[3])
    even = muladd(q, muladd(q, muladd(q, muladd(q, ERF[12], ERF[10]), ERF[8]), ERF[6]), ERF[4])
    return muladd(s, muladd(q, odd, ERF[1]), muladd(q, muladd(q, even, ERF[2]), ERF[0]))


@func
def erfc_scaled(v: float64) -> float64:
    """(1 - erf(x))·e^(x²) for v = x - 5/2 within ±3/2."""
    q = v * v
    odd = muladd(q, muladd(q, muladd(q, muladd(q, ERFC[21], ERFC[19]), ERFC[17]), ERFC[15]), ERFC[13])
    odd = muladd(q, muladd(q, muladd(q, muladd(q, odd, ERFC[11]), ERFC[9]), ERFC[7]), ERFC[5])
    even = muladd(q, muladd(q, muladd(q, muladd(q, ERFC[20], ERFC[18]), ERFC[16]), ERFC[14]), ERFC[12])
    even = muladd(q, muladd(q, muladd(q, muladd(q, even, ERFC[10]), ERFC[8]), ERFC[6]), ERFC[4])
    return muladd(v, muladd(q, muladd(q, odd, ERFC[3]), ERFC[1]), muladd(q, muladd(q, even, ERFC[2]), ERFC[0]))


@func
def erf(x: float32) -> float32:
    """Error function 2/√π ∫ e^(-t²) dt from 0 to x, correctly rounded."""
    wide = float64(abs_(x))
    size = _MOST if wide > _MOST else wide
    square = size * size
    octaves = -square * _LOG2_E
    shifted = octaves + SHIFT
    f = octaves - (shifted - SHIFT)
    tail = muladd(f, exp2_slope(f), 1.0) * power_of_two(shifted)
    far = 1.0 - tail * erfc_scaled(size - 2.5)
    result = float32(far if size > 1.0 else size * erf_slope(square))
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed


@func
def erfc(x: float32) -> float32:
    """1 - erf(x) without the loss of that, within 0.501 units in the last place."""
    return float32(error_inverse.erfc(float64(x)))


@func
def erfinv(y: float32) -> float32:
    """The x with erf(x) = y, within 0.501 units in the last place; infinite at ±1, NaN beyond."""
    return float32(error_inverse.erfinv(float64(y)))


@func
def erfcinv(y: float32) -> float32:
    """The x with 1 - erf(x) = y, within 0.501 units in the last place; infinite at 0 and 2, NaN beyond."""
    return float32(error_inverse.erfcinv(float64(y)))
