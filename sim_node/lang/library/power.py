"""Powers of f32, within 0.501 units in the last place, with C99's special values (``docs/math.md``)."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, uint32
from sim_node.lang.builtins import abs_, cast, trunc
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import EXP2, LB_CENTRE, LB_SCALE, LOG
from sim_node.lang.library.exponential import SHIFT, power_of_two
from sim_node.lang.library.logarithm import EDGE, near_one, scaled

_INFINITY = float32(float("inf"))
_NAN = float32(float("nan"))
# Beyond these every result is 0 or infinite, as it is at them.
_LEAST, _MOST = -160.0, 160.0


@func
def log2_of(x: float64) -> float64:
    """Logarithm to the base 2 of a positive f32, within 2^-51 of itself; no product is fused with a sum."""
    parts = scaled(x)
    k, m = parts[0], parts[1]
    z = near_one(m)
    s = z * z
    q = s * s
    low = (LOG[0] + z * LOG[1]) + s * (LOG[2] + z * LOG[3])
    middle = (LOG[4] + z * LOG[5]) + s * (LOG[6] + z * LOG[7])
    high = (LOG[8] + z * LOG[9]) + s * (LOG[10] + z * LOG[11]) + q * (LOG[12] + z * LOG[13])
    whole = k + (LB_CENTRE if m >= EDGE else 0.0)
    return whole + LB_SCALE * (z + s * (low + q * (middle + q * high)))


@func
def exp2_of(x: float64) -> float64:
    """2^x for |x| ≤ 1000, within 2^-52 of itself; no product is fused with a sum."""
    shifted = x + SHIFT
    f = x - (shifted - SHIFT)
    s = f * f
    q = s * s
    low = (EXP2[0] + f * EXP2[1]) + s * (EXP2[2] + f * EXP2[3])
    middle = (EXP2[4] + f * EXP2[5]) + s * (EXP2[6] + f * EXP2[7])
    high = (EXP2[8] + f * EXP2[9]) + s * EXP2[10]
    return (1.0 + f * (low + q * (middle + q * high))) * power_of_two(shifted)


@func
def pow(x: float32, y: float32) -> float32:
    """x^y, within 0.501 units in the last place; special values are those of C99's Annex F."""
    size = abs_(x)
    logarithm = log2_of(float64(size))
    logarithm = float64(-_INFINITY) if size == 0.0 else logarithm
    logarithm = logarithm if size < _INFINITY else float64(size)
    exponent = float64(y) * logarithm
    above = _LEAST if exponent < _LEAST else exponent
    result = float32(exp2_of(_MOST if above > _MOST else above))
    half = 0.5 * y
    whole = trunc(y) == y
    odd = whole and trunc(half) != half
    result = -result if odd and (cast(x, uint32) >> 31) != 0 else result
    result = _NAN if x < 0.0 and size < _INFINITY and not whole else result
    one = x == 1.0 or y == 0.0 or (x == -1.0 and abs_(y) == _INFINITY)
    return float32(1.0) if one else result
