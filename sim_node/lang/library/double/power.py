"""Powers of f64, within one unit in the last place, with C99's special values."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64, uint64
from sim_node.lang.builtins import abs_, cast, trunc
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import FIFTH, LN2_HEAD, LN2_TAIL, LN_CENTRE, LOG_FINE, THIRD
from sim_node.lang.library.double.exponential import exp_pair
from sim_node.lang.library.double.logarithm import near_one, octave
from sim_node.lang.library.double.parts import pair_product, pair_sum, rest_of_product
from sim_node.lang.library.rounding import rest_of_sum

_INFINITY = float64(float("inf"))
_NAN = float64(float("nan"))
_EDGE = 2.0**0.25
# Beyond these every result is 0 or infinite, as it is at them.
_LEAST, _MOST = -760.0, 720.0
# The exponent is then too large to be split, or it is 0.
_HUGE = 2.0**1000


@func
def fine_rest(z: float64) -> float64:
    """(log(1+z) - (z - z²/2 + z³/3 - z⁴/4 + z⁵/5)) / z⁵ for z from 2^-1/4 - 1 to 2^1/4 - 1."""
    s = z * z
    q = s * s
    low = (LOG_FINE[0] + z * LOG_FINE[1]) + s * (LOG_FINE[2] + z * LOG_FINE[3])
    middle = (LOG_FINE[4] + z * LOG_FINE[5]) + s * (LOG_FINE[6] + z * LOG_FINE[7])
    high = (LOG_FINE[8] + z * LOG_FINE[9]) + s * (LOG_FINE[10] + z * LOG_FINE[11])
    top = (LOG_FINE[12] + z * LOG_FINE[13]) + s * (LOG_FINE[14] + z * LOG_FINE[15])
    return z * (low + q * (middle + q * (high + q * (top + q * LOG_FINE[16]))))


@func
def log_pair(x: float64) -> Any:
    """The natural logarithm of a positive number, in two parts, within 2^-66 of itself."""
    parts = octave(x)
    k, m = parts[0], parts[1]
    z = near_one(m, 0.0)
    term = pair_sum(FIFTH[0], FIFTH[1], fine_rest(z[0]), 0.0)
    product = pair_product(term[0], term[1], z[0], z[1])
    term = pair_sum(-0.25, 0.0, product[0], product[1])
    product = pair_product(term[0], term[1], z[0], z[1])
    term = pair_sum(THIRD[0], THIRD[1], product[0], product[1])
    product = pair_product(term[0], term[1], z[0], z[1])
    term = pair_sum(-0.5, 0.0, product[0], product[1])
    square = pair_product(z[0], z[1], z[0], z[1])
    product = pair_product(term[0], term[1], square[0], square[1])
    near = pair_sum(z[0], z[1], product[0], product[1])
    upper = m >= _EDGE
    whole = k * LN2_HEAD + (LN_CENTRE[0] if upper else 0.0)
    return pair_sum(whole, k * LN2_TAIL + (LN_CENTRE[1] if upper else 0.0), near[0], near[1])


@func
def pow(x: float64, y: float64) -> float64:
    """x^y, within one unit in the last place; special values are those of C99's Annex F."""
    size = abs_(x)
    logarithm = log_pair(size)
    exponent = y * logarithm[0]
    tail = rest_of_product(exponent, y, logarithm[0]) + y * logarithm[1]
    large = exponent + tail
    small = rest_of_sum(large, exponent, tail)
    # the logarithm of 0 and infinity, and exponents too large to be split
    edge = y * (-_INFINITY if size == 0.0 else size)
    outside = size == 0.0 or not (size < _INFINITY)
    wild = abs_(y) > _HUGE or not (abs_(exponent) < 800.0)
    chosen = edge if outside else (exponent if wild else large)
    above = _LEAST if chosen < _LEAST else chosen
    result = exp_pair(_MOST if above > _MOST else above, 0.0 if wild or outside else small)
    half = 0.5 * y
    whole = trunc(y) == y
    odd = whole and trunc(half) != half
    result = -result if odd and (cast(x, uint64) >> 63) != 0 else result
    result = _NAN if x < 0.0 and size < _INFINITY and not whole else result
    one = x == 1.0 or y == 0.0 or (x == -1.0 and abs_(y) == _INFINITY)
    return 1.0 if one else result
