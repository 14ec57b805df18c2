"""Hyperbolic functions of f64, within one unit in the last place."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64
from sim_node.lang.builtins import abs_, vector
from sim_node.lang.func import func
from sim_node.lang.library.double.exponential import exp_even, exp_odd, reduced
from sim_node.lang.library.double.parts import counted, power_of_two, quotient
from sim_node.lang.library.rounding import rest_of_any_sum

# Beyond these every result is infinite, or ±1, as it is at them.
_MOST, _TANH_MOST = 711.0, 25.0
# Below here x³ is less than half a unit in the last place of x.
_TINY = 2.0**-28


@func
def sum_of_three(a: float64, b: float64, c: float64, small: float64) -> Any:
    """a + b + c + small in two parts; ``small`` is by far the smallest."""
    ab = a + b
    total = ab + c
    rest = (rest_of_any_sum(ab, a, b) + rest_of_any_sum(total, ab, c)) + small
    large = total + rest
    return vector(large, rest_of_any_sum(large, total, rest))


@func
def sinh_and_cosh(x: float64) -> Any:
    """Both over 4, each in two parts, of x = k·ln 2 + r from 0 to 711: those of k·ln 2 are sums of powers of two."""
    parts = reduced(x, 0.0)
    r, tail = parts[0], parts[1]
    k = counted(parts[2])
    rising, falling = power_of_two(k - 3), power_of_two(-k - 3) if k < 1000 else 0.0
    s = r * r
    even, odd = s * exp_even(s) + r * tail, r * s * exp_odd(s) + tail
    sine, cosine = rising - falling, rising + falling
    # sinh(r) is r + odd and cosh(r) is 1 + even, and the products with r are exact for each power by itself
    sines = sum_of_three(rising, -falling, 0.0, 0.0)
    sinh_ = sum_of_three(sines[0], rising * r, falling * r, sines[1] + (even * sine + odd * cosine))
    cosines = sum_of_three(rising, falling, 0.0, 0.0)
    cosh_ = sum_of_three(cosines[0], rising * r, -(falling * r), cosines[1] + (even * cosine + odd * sine))
    return vector(sinh_[0], sinh_[1], cosh_[0], cosh_[1])


@func
def sinh(x: float64) -> float64:
    """Hyperbolic sine, within one unit in the last place."""
    size = abs_(x)
    result = sinh_and_cosh(_MOST if size > _MOST else size)[0] * 4.0
    signed = -result if x < 0.0 else result
    return x if size < _TINY else signed


@func
def cosh(x: float64) -> float64:
    """Hyperbolic cosine, within one unit in the last place."""
    size = abs_(x)
    return sinh_and_cosh(_MOST if size > _MOST else size)[2] * 4.0


@func
def tanh(x: float64) -> float64:
    """Hyperbolic tangent, within one unit in the last place."""
    size = abs_(x)
    parts = sinh_and_cosh(_TANH_MOST if size > _TANH_MOST else size)
    result = quotient(parts[0], parts[1], parts[2], parts[3])
    signed = -result if x < 0.0 else result
    return x if size < _TINY else signed
