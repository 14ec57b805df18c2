"""Small functions of one number or a few, written in the kernel language, with Warp's names and meaning."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64
from sim_node.lang.builtins import abs_, trunc
from sim_node.lang.func import func
from sim_node.lang.kinds import Float, Int, Scalar
from sim_node.lang.library.scalar import clamp, fmod

_INFINITY = float("inf")
_DEGREES = 57.29577951308232  # 180 / pi
_RADIANS = 0.017453292519943295  # pi / 180


@func
def where(condition: Any, if_true: Any, if_false: Any) -> Any:
    """Choose one of two values of one type."""
    return if_true if condition else if_false


@func
def step(x: Any) -> Any:
    """Give 1 where x is below zero, else 0, in the type of x."""
    return type(x)(1) if x < 0 else type(x)(0)


@func
def nonzero(x: Any) -> Any:
    """Give 0 where x is zero, else 1, in the type of x."""
    return type(x)(0) if x == 0 else type(x)(1)


@func
def isnan(x: Scalar) -> Any:
    """Say whether x is not a number."""
    return x != x


@func
def isnan(x: Any) -> Any:
    """Say whether any component is not a number."""
    found = False
    for i in range(len(x)):
        found = found or isnan(x[i])
    return found


@func
def isinf(x: Int) -> Any:
    """Say no: every integer is finite."""
    return False


@func
def isinf(x: Float) -> Any:
    """Say whether x is infinite."""
    return abs_(x) == _INFINITY


@func
def isinf(x: Any) -> Any:
    """Say whether any component is infinite."""
    found = False
    for i in range(len(x)):
        found = found or isinf(x[i])
    return found


@func
def isfinite(x: Int) -> Any:
    """Say yes: every integer is finite."""
    return True


@func
def isfinite(x: Float) -> Any:
    """Say whether x is a number and not infinite."""
    return abs_(x) < _INFINITY


@func
def isfinite(x: Any) -> Any:
    """Say whether all components are numbers and not infinite."""
    found = True
    for i in range(len(x)):
        found = found and isfinite(x[i])
    return found


@func
def copysign(x: Any, y: Any) -> Any:
    """Give x the sign of y; a zero has one, NaN is positive."""
    return -abs_(x) if y < 0 or (y == 0 and 1.0 / y < 0) else abs_(x)


@func
def round(x: Any) -> Any:
    """Round to the nearest integer, halves away from zero; ``sn.rint`` rounds halves to even."""
    whole = trunc(x)
    if abs_(x - whole) >= 0.5:
        return whole + copysign(type(x)(1), x)
    return whole


@func
def frac(x: Any) -> Any:
    """Give what truncation leaves, with the sign of x."""
    return x - trunc(x)


@func
def degrees(x: Any) -> Any:
    """Convert radians to degrees."""
    return x * _DEGREES


@func
def radians(x: Any) -> Any:
    """Convert degrees to radians."""
    return x * _RADIANS


@func
def smoothstep(a: Any, b: Any, x: Any) -> Any:
    """Rise from 0 at a to 1 at b by Hermite's cubic, and stay there."""
    t = clamp((x - a) / (b - a), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


@func
def add(a: Any, b: Any) -> Any:
    """``a + b``."""
    return a + b


@func
def sub(a: Any, b: Any) -> Any:
    """``a - b``."""
    return a - b


@func
def mul(a: Any, b: Any) -> Any:
    """``a * b``."""
    return a * b


@func
def floordiv(a: Any, b: Any) -> Any:
    """``a // b``."""
    return a // b


@func
def div(a: Int, b: Int) -> Any:
    """Divide integers, rounding towards zero, as C does; ``a // b`` rounds down."""
    q = a // b
    return q + 1 if q < 0 and q * b != a else q


@func
def div(a: Any, b: Any) -> Any:
    """``a / b``."""
    return a / b


@func
def mod(a: Int, b: Int) -> Any:
    """Remainder of ``sn.div``, with the sign of a; ``a % b`` has the sign of b."""
    r = a % b
    return r - b if r != 0 and (r < 0) != (a < 0) else r


@func
def mod(a: Float, b: Float) -> Any:
    """Exact remainder of the truncating division, as C's fmod; ``a % b`` has the sign of b."""
    return type(a)(fmod(float64(a), float64(b)))


@func
def mod(a: Any, b: Any) -> Any:
    """``sn.mod`` of two vectors, component by component."""
    rest = +a
    for k in range(len(a)):
        rest[k] = mod(a[k], b[k])
    return rest
