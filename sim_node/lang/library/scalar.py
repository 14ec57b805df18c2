"""Scalar functions written in the kernel language: flooring division, exact remainder, clamp, sign, lerp.

Operators of the language that need more than one operation become calls of these funcs (``frontend/operators.py``).
"""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float16, float32, float64, int32, uint64
from sim_node.lang.builtins import abs_, cast, floor, max_, min_, quot, rem
from sim_node.lang.func import func
from sim_node.lang.kinds import Scalar

# Of an f64's bits: the pattern of infinity, the bits of the fraction, the implicit leading one.
_INFINITY = 0x7FF0_0000_0000_0000
_FRACTION = 0x000F_FFFF_FFFF_FFFF
_LEADING = 0x0010_0000_0000_0000
_SPARE = 11  # bits that a significand of 53 leaves free in 64
_ULP = 2.0**-52


@func
def floor_divide_int(a: Any, b: Any) -> Any:
    """Divide signed integers, rounding towards minus infinity; the operator has checked b and the overflow."""
    q = quot(a, b)
    r = a - q * b
    return q - 1 if r != 0 and (r < 0) != (b < 0) else q


@func
def modulo_int(a: Any, b: Any) -> Any:
    """Remainder of flooring division of signed integers, with the sign of b; the operator has checked b."""
    # The remainder of a division by -1 is 0, but the machine traps on the least integer: divide by 1 instead.
    r = rem(a, 1 if b == -1 else b)
    return r + b if r != 0 and (r < 0) != (b < 0) else r


@func
def floor_divide_uint(a: Any, b: Any) -> Any:
    """Divide unsigned integers; the operator has checked b."""
    return quot(a, b)


@func
def modulo_uint(a: Any, b: Any) -> Any:
    """Remainder of unsigned integers; the operator has checked b."""
    return rem(a, b)


@func
def significand(bits: Any) -> Any:
    """Significand of a finite f64, given the bits of its magnitude, as an integer below 2^53."""
    fraction = bits & _FRACTION
    return fraction + _LEADING if bits > _FRACTION else fraction


@func
def exponent(bits: Any) -> Any:
    """Biased exponent of a finite f64, given the bits of its magnitude; 1 for subnormals, whose unit is the same."""
    return max_(int32(bits >> 52), 1)


@func
def fmod(x: Any, y: Any) -> Any:
    """Exact remainder of the truncating division of two f64, with the sign of x; NaN where C's fmod has it.

    Long division of the significands, as many bits at once as 64-bit integers hold.
    """
    a = cast(abs_(x), uint64)
    b = cast(abs_(y), uint64)
    if b == 0 or a >= _INFINITY or b > _INFINITY:
        return (x * y) / (x * y)
    if a < b:
        return x
    divisor = significand(b)
    left = exponent(a) - exponent(b)
    remainder = rem(significand(a), divisor)
    while left > 0 and remainder != 0:
        shift = min_(left, _SPARE)
        remainder = rem(remainder << uint64(shift), divisor)
        left -= shift
    # Scaling by powers of two is exact: the remainder is a multiple of the unit in the last place of y.
    magnitude = float64(remainder) * _ULP * cast(uint64(exponent(b)) << 52, float64)
    return -magnitude if x < 0.0 else magnitude


@func
def modulo_from(r: Any, y: Any) -> Any:
    """Python's remainder from C's: moved to the sign of y, and a zero that has the sign of y."""
    if r == 0.0:
        return abs_(r) if y > 0.0 else -abs_(r)
    return r + y if (y < 0.0) != (r < 0.0) else r


@func
def floor_divide_from(r: Any, x: Any, y: Any) -> Any:
    """Python's floored quotient from C's remainder: CPython's and numpy's algorithm, step by step."""
    if y == 0.0:
        return x / y
    q = (x - r) / y
    if r != 0.0 and (y < 0.0) != (r < 0.0):
        q -= 1.0
    if q == 0.0:
        return (x / y) * 0.0
    whole = floor(q)
    return whole + 1.0 if q - whole > 0.5 else whole


@func
def modulo_f64(x: Any, y: Any) -> Any:
    """``x % y`` as Python has it, in f64."""
    return modulo_from(fmod(x, y), y)


@func
def modulo_f32(x: Any, y: Any) -> Any:
    """``x % y`` as Python has it, in f32: the remainder of two f32 is an f32, so f64 computes it exactly."""
    return modulo_from(float32(fmod(float64(x), float64(y))), y)


@func
def floor_divide_f64(x: Any, y: Any) -> Any:
    """``x // y`` as Python has it, in f64; a division by zero gives what IEEE 754 does."""
    return floor_divide_from(fmod(x, y), x, y)


@func
def floor_divide_f32(x: Any, y: Any) -> Any:
    """``x // y`` as Python has it, in f32; a division by zero gives what IEEE 754 does."""
    return floor_divide_from(float32(fmod(float64(x), float64(y))), x, y)


@func
def modulo_f16(x: Any, y: Any) -> Any:
    """``x % y`` as Python has it, in f16: by f32, which holds every step of it exactly but the last."""
    return float16(modulo_f32(float32(x), float32(y)))


@func
def floor_divide_f16(x: Any, y: Any) -> Any:
    """``x // y`` as Python has it, in f16; a division by zero gives what IEEE 754 does."""
    return float16(floor_divide_f32(float32(x), float32(y)))


@func
def smaller(a: Any, b: Any) -> Any:
    """Python's own ``min(a, b)``, whose answer depends on the order where NaN or signed zeros meet."""
    return b if b < a else a


@func
def larger(a: Any, b: Any) -> Any:
    """Python's own ``max(a, b)``, whose answer depends on the order where NaN or signed zeros meet."""
    return b if b > a else a


@func
def clamp(x: Any, low: Any, high: Any) -> Any:
    """Limit x to low … high; NaN becomes low (``sn.min`` and ``sn.max`` prefer numbers)."""
    return min_(max_(x, low), high)


@func
def sign(x: Scalar) -> Any:
    """Give -1 where x is below zero, else 1, in the type of x (as Warp has it)."""
    one = type(x)(1)
    return -one if x < 0 else one  # of unsigned numbers none is below zero, and -1 has no meaning


@func
def sign(x: Any) -> Any:
    """Signs of a vector, component by component."""
    signs = +x
    for k in range(len(x)):
        signs[k] = sign(x[k])
    return signs


@func
def lerp(a: Any, b: Any, t: Any) -> Any:
    """Blend linearly: a at t = 0, b at t = 1, for scalars and vectors."""
    return a * (1.0 - t) + b * t
