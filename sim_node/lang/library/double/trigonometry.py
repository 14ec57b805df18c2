"""Sine, cosine and tangent of f64, within one unit in the last place, however large the argument."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64, uint64
from sim_node.lang.builtins import abs_, cast, vector
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import COS, SIN
from sim_node.lang.library.double.parts import quotient, rest_of_product
from sim_node.lang.library.double.turn import turn
from sim_node.lang.library.rounding import rest_of_sum

# Below here x³ is less than half a unit in the last place of x.
_TINY = 2.0**-27


@func
def sine(r: float64, tail: float64) -> Any:
    """sin(r + tail) for |r| ≤ π/4, in two parts."""
    s = r * r
    q = s * s
    series = (SIN[0] + s * SIN[1]) + q * (
        (SIN[2] + s * SIN[3]) + q * ((SIN[4] + s * SIN[5]) + q * (SIN[6] + s * SIN[7]))
    )
    small = r * s * series + tail * (1.0 - 0.5 * s)
    large = r + small
    return vector(large, rest_of_sum(large, r, small))


@func
def cosine(r: float64, tail: float64) -> Any:
    """cos(r + tail) for |r| ≤ π/4, in two parts."""
    s = r * r
    q = s * s
    series = (COS[0] + s * COS[1]) + q * ((COS[2] + s * COS[3]) + q * ((COS[4] + s * COS[5]) + q * COS[6]))
    first = 1.0 - 0.5 * s
    small = rest_of_sum(first, 1.0, -0.5 * s) + (q * series - (r * tail + 0.5 * rest_of_product(s, r, r)))
    large = first + small
    return vector(large, rest_of_sum(large, first, small))


@func
def turned(x: float64, quarters: uint64) -> float64:
    """Sine of x plus quarter turns."""
    parts = turn(x)
    count = cast(parts[2], uint64) + quarters
    s, c = sine(parts[0], parts[1]), cosine(parts[0], parts[1])
    result = c[0] if (count & 1) != 0 else s[0]
    return -result if (count & 2) != 0 else result


@func
def sin(x: float64) -> float64:
    """Sine of x radians, within one unit in the last place; NaN at infinity."""
    result = turned(x, uint64(0))
    return x if abs_(x) < _TINY else result


@func
def cos(x: float64) -> float64:
    """Cosine of x radians, within one unit in the last place; NaN at infinity."""
    return turned(x, uint64(1))


@func
def tan(x: float64) -> float64:
    """Tangent of x radians, within one unit in the last place; NaN at infinity."""
    parts = turn(x)
    odd = (cast(parts[2], uint64) & 1) != 0
    s, c = sine(parts[0], parts[1]), cosine(parts[0], parts[1])
    above, above_tail = -c[0] if odd else s[0], -c[1] if odd else s[1]
    below, below_tail = s[0] if odd else c[0], s[1] if odd else c[1]
    result = quotient(above, above_tail, below, below_tail)
    return x if abs_(x) < _TINY else result
