"""Length and angle of a point given by two f32, within 0.501 units in the last place (``docs/math.md``)."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, uint32
from sim_node.lang.builtins import abs_, cast, sqrt
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import ATAN

_INFINITY = float32(float("inf"))
_QUARTER_PI, _HALF_PI, _PI = 0.7853981633974483, 1.5707963267948966, 3.141592653589793
# tan(π/8), to the digits that matter
_EDGE = 0.41421356


@func
def hypot(x: float32, y: float32) -> float32:
    """√(x² + y²), within 0.501 units in the last place; infinite where either is, whatever the other."""
    a, b = float64(x), float64(y)
    result = float32(sqrt(a * a + b * b))
    return _INFINITY if abs_(x) == _INFINITY or abs_(y) == _INFINITY else result


@func
def atan_quotient(t: float64) -> float64:
    """Inverse tangent of t for |t| ≤ tan(π/8), within 2^-52 of itself; no product is fused with a sum."""
    s = t * t
    q = s * s
    r = q * q
    low = (ATAN[0] + s * ATAN[1]) + q * (ATAN[2] + s * ATAN[3])
    middle = (ATAN[4] + s * ATAN[5]) + q * (ATAN[6] + s * ATAN[7])
    high = (ATAN[8] + s * ATAN[9]) + q * (ATAN[10] + s * ATAN[11])
    top = (ATAN[12] + s * ATAN[13]) + q * ATAN[14]
    return t + t * s * (low + r * (middle + r * (high + r * top)))


@func
def atan2(y: float32, x: float32) -> float32:
    """Angle of the point (x, y) from the x axis, within 0.501 units in the last place; C99's special values."""
    across, up = float64(abs_(x)), float64(abs_(y))
    # of two infinite sides, or of none, the angle is that of equal ones, or of none
    endless = across == float64(_INFINITY) and up == float64(_INFINITY)
    least = 1.0 if endless else (across if up > across else up)
    most = 1.0 if endless else (up if up > across else across)
    middle = least > _EDGE * most
    above = least - most if middle else least
    below = least + most if middle else most
    angle = atan_quotient(above / (1.0 if below == 0.0 else below))
    angle = angle + _QUARTER_PI if middle else angle
    angle = _HALF_PI - angle if up > across else angle
    angle = _PI - angle if (cast(x, uint32) >> 31) != 0 else angle
    result = float32(-angle if (cast(y, uint32) >> 31) != 0 else angle)
    return x + y if x != x or y != y else result
