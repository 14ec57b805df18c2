"""The complement of the error function and the inverses of both, for f64, within 5 units in the last place."""

from __future__ import annotations

from sim_node.dtypes import float64
from sim_node.lang.builtins import abs_, sqrt
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import ERFC_FOLDED
from sim_node.lang.library.double.error_function import erf
from sim_node.lang.library.double.exponential import exp_pair
from sim_node.lang.library.double.logarithm import log
from sim_node.lang.library.double.parts import rest_of_product

_C = ERFC_FOLDED
_INFINITY = float64(float("inf"))
_NAN = float64(float("nan"))
# From here on the result is 0.
_MOST = 27.5
_HALF_ROOT_PI = 0.886226925452758
# Of the first guess: Winitzki, 2008, "A handy approximation for the error function and its inverse".
_A, _START = 0.147, 4.330746750799873
_STEPS = 4


@func
def erfc_above(x: float64) -> float64:
    """1 - erf(x) for x from 0 to 27.5."""
    inverse = 1.0 / (x + 3.75)
    t = (x - 3.75) * inverse
    s = t * t
    q = s * s
    a = (_C[0] + t * _C[1]) + s * (_C[2] + t * _C[3])
    b = (_C[4] + t * _C[5]) + s * (_C[6] + t * _C[7])
    c = (_C[8] + t * _C[9]) + s * (_C[10] + t * _C[11])
    d = (_C[12] + t * _C[13]) + s * (_C[14] + t * _C[15])
    e = (_C[16] + t * _C[17]) + s * (_C[18] + t * _C[19])
    f = (_C[20] + t * _C[21]) + s * (_C[22] + t * _C[23])
    g = (_C[24] + t * _C[25]) + s * (_C[26] + t * _C[27])
    square = x * x
    return (
        inverse
        * exp_pair(-square, -rest_of_product(square, x, x))
        * (a + q * (b + q * (c + q * (d + q * (e + q * (f + q * g))))))
    )


@func
def erfc(x: float64) -> float64:
    """1 - erf(x) without the loss of that, within 5 units in the last place."""
    size = abs_(x)
    above = erfc_above(_MOST if size > _MOST else size)
    far = 2.0 - above if x < 0.0 else above
    return 1.0 - erf(x) if size < 0.5 else far


@func
def root_of(y: float64, left: float64) -> float64:
    """x from 0 on with erf(x) = y and 1 - erf(x) = left, both of which are given."""
    logarithm = log(left * (1.0 + y))
    t = _START + 0.5 * logarithm
    x = sqrt(sqrt(t * t - logarithm / _A) - t)
    for _ in range(_STEPS):  # Halley's
        off = erf(x) - y if y < 0.5 else left - erfc_above(_MOST if x > _MOST else x)
        step = off * _HALF_ROOT_PI * exp_pair(x * x, 0.0)
        x -= step / (1.0 + x * step)
    return x


@func
def erfinv(y: float64) -> float64:
    """The x with erf(x) = y, within 5 units in the last place; infinite at ±1, NaN beyond."""
    size = abs_(y)
    if not (size < 1.0):
        return y * _INFINITY if size == 1.0 else _NAN
    if size < 1e-8:
        return y * _HALF_ROOT_PI
    x = root_of(size, 1.0 - size)
    return -x if y < 0.0 else x


@func
def erfcinv(y: float64) -> float64:
    """The x with 1 - erf(x) = y, within 5 units in the last place; infinite at 0 and 2, NaN beyond."""
    if not (y > 0.0 and y < 2.0):
        return _INFINITY if y == 0.0 else (-_INFINITY if y == 2.0 else _NAN)
    low = 2.0 - y if y > 1.0 else y
    if 1.0 - low < 1e-8:
        return (1.0 - y) * _HALF_ROOT_PI
    x = root_of(1.0 - low, low)
    return -x if y > 1.0 else x
