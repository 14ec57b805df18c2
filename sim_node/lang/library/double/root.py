"""Cube root and length of f64, within one unit in the last place."""

from __future__ import annotations

from sim_node.dtypes import float64, uint32, uint64
from sim_node.lang.builtins import abs_, cast, sqrt
from sim_node.lang.func import func
from sim_node.lang.library.double.parts import head, rest_of_product
from sim_node.lang.library.rounding import rest_of_sum

_INFINITY = float64(float("inf"))
# A third of an exponent, in the upper half of an f64: what is to be added to make the root's, within 2^-5.
# FreeBSD's msun, s_cbrt.c.
_THIRD = 715094163
_CUBE_MOST, _CUBE_LEAST, _ROOT_MOST, _ROOT_LEAST = 2.0**600, 2.0**-600, 2.0**200, 2.0**-200
# Sides beyond these are brought between them, so that their squares neither overflow nor vanish.
_SIDE_MOST, _SIDE_LEAST, _RAISE, _LOWER = 2.0**500, 2.0**-450, 2.0**600, 2.0**-600


@func
def halley(y: float64, a: float64) -> float64:
    """Come closer to the cube root of a: three times as many digits are right."""
    cube = y * y * y
    return y * ((cube + 2.0 * a) / (2.0 * cube + a))


@func
def cbrt(x: float64) -> float64:
    """Cube root, within one unit in the last place."""
    size = abs_(x)
    # cubes of powers of two, so that no step overflows or vanishes
    large, small = size > _CUBE_MOST, size < _CUBE_LEAST
    a = size * float64(_CUBE_LEAST if large else (_CUBE_MOST if small else 1.0))
    upper = uint32(cast(a, uint64) >> 32) // 3 + _THIRD
    y = head(halley(halley(cast(uint64(upper) << 32, float64), a), a))
    # y has 26 bits, so its square is exact
    whole = a / (y * y)
    near = y + y * ((whole - y) / ((y + y) + whole))
    result = near * float64(_ROOT_MOST if large else (_ROOT_LEAST if small else 1.0))
    signed = -result if x < 0.0 else result
    return signed if size > 0.0 and size < _INFINITY else x


@func
def hypot(x: float64, y: float64) -> float64:
    """√(x² + y²), within one unit in the last place; infinite where either is, whatever the other."""
    a, b = abs_(x), abs_(y)
    most, least = b if b > a else a, a if b > a else b
    large, small = most > _SIDE_MOST, most < _SIDE_LEAST
    scale = float64(_LOWER if large else (_RAISE if small else 1.0))
    back = float64(_RAISE if large else (_LOWER if small else 1.0))
    most, least = most * scale, least * scale
    first, second = most * most, least * least
    # of a side that is so small, the square's own rest is nothing
    rest = rest_of_product(first, most, most) + (rest_of_product(second, least, least) if least > _SIDE_LEAST else 0.0)
    total = first + second
    root = sqrt(total)
    square = root * root
    # what the sum and the root lost
    lost = (total - square - rest_of_product(square, root, root)) + (rest_of_sum(total, first, second) + rest)
    result = (root + lost / (1.0 if root == 0.0 else root + root)) * back
    return _INFINITY if a == _INFINITY or b == _INFINITY else result
