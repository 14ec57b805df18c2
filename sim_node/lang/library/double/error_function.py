"""The error function of f64, within one unit in the last place."""

from __future__ import annotations

from sim_node.dtypes import float64
from sim_node.lang.builtins import abs_
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import ERF, ERF_AT_1, ERF_OF_1, ERFC, ERFC_LAST
from sim_node.lang.library.double.exponential import exp_pair
from sim_node.lang.library.double.parts import rest_of_product

# From here on the result is 1.
_MOST = 6.0


@func
def erf_near_one(u: float64) -> float64:
    """(erf(1 + u) - erf(1))/u for |u| up to 1/4."""
    s = u * u
    q = s * s
    a = (ERF_AT_1[0] + u * ERF_AT_1[1]) + s * (ERF_AT_1[2] + u * ERF_AT_1[3])
    b = (ERF_AT_1[4] + u * ERF_AT_1[5]) + s * (ERF_AT_1[6] + u * ERF_AT_1[7])
    c = (ERF_AT_1[8] + u * ERF_AT_1[9]) + s * (ERF_AT_1[10] + u * ERF_AT_1[11])
    return a + q * (b + q * (c + q * (ERF_AT_1[12] + u * ERF_AT_1[13])))


@func
def erfc_scaled(v: float64) -> float64:
    """(1 - erf(x))·e^(x²) for v = x - 5/2 within ±3/2."""
    s = v * v
    q = s * s
    a = (ERFC[0] + v * ERFC[1]) + s * (ERFC[2] + v * ERFC[3])
    b = (ERFC[4] + v * ERFC[5]) + s * (ERFC[6] + v * ERFC[7])
    c = (ERFC[8] + v * ERFC[9]) + s * (ERFC[10] + v * ERFC[11])
    d = (ERFC[12] + v * ERFC[13]) + s * (ERFC[14] + v * ERFC[15])
    e = (ERFC[16] + v * ERFC[17]) + s * (ERFC[18] + v * ERFC[19])
    f = (ERFC[20] + v * ERFC[21]) + s * (ERFC[22] + v * ERFC[23])
    return a + q * (b + q * (c + q * (d + q * (e + q * f))))


@func
def erfc_last(v: float64) -> float64:
    """(1 - erf(x))·e^(x²) for v = x - 5 within ±1."""
    s = v * v
    q = s * s
    a = (ERFC_LAST[0] + v * ERFC_LAST[1]) + s * (ERFC_LAST[2] + v * ERFC_LAST[3])
    b = (ERFC_LAST[4] + v * ERFC_LAST[5]) + s * (ERFC_LAST[6] + v * ERFC_LAST[7])
    return a + q * (b + q * ((ERFC_LAST[8] + v * ERFC_LAST[9]) + s * ERFC_LAST[10]))


@func
def erf(x: float64) -> float64:
    """Error function 2/√π ∫ e^(-t²) dt from 0 to x, within one unit in the last place."""
    size = abs_(x)
    limited = _MOST if size > _MOST else size
    s = limited * limited
    q = s * s
    a = (ERF[0] + s * ERF[1]) + q * (ERF[2] + s * ERF[3])
    b = (ERF[4] + s * ERF[5]) + q * (ERF[6] + s * ERF[7])
    c = (ERF[8] + s * ERF[9]) + q * (ERF[10] + s * ERF[11])
    near = size + size * (a + q * q * (b + q * q * c))
    u = limited - 1.0
    middle = ERF_OF_1[0] + (ERF_OF_1[1] + u * erf_near_one(u))
    tail = exp_pair(-s, -rest_of_product(s, limited, limited))
    far = 1.0 - tail * (erfc_scaled(limited - 2.5) if limited < 4.0 else erfc_last(limited - 5.0))
    inner = near if size < 0.75 else middle
    result = inner if size < 1.25 else far
    signed = -result if x < 0.0 else result
    return x if x == 0.0 else signed
