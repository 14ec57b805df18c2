"""Numbers of more than 53 bits as sums of two f64: what products lose, and arithmetic on such pairs."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64, int64, uint64
from sim_node.lang.builtins import cast, vector
from sim_node.lang.func import func
from sim_node.lang.library.rounding import WHOLE, rest_of_any_sum, rest_of_sum

_UPPER, _HALF = 0xFFFF_FFFF_F800_0000, 0x0400_0000
_WHOLE_BITS = 0x4338_0000_0000_0000


@func
def head(x: float64) -> float64:
    """x rounded to 26 bits, so that what is left has 26 as well."""
    return cast((cast(x, uint64) + _HALF) & _UPPER, float64)


@func
def rest_of_product(product: float64, a: float64, b: float64) -> float64:
    """What ``a * b`` lost when it was rounded to ``product``, exactly where nothing vanishes (Dekker, 1971)."""
    a_head, b_head = head(a), head(b)
    a_tail, b_tail = a - a_head, b - b_head
    return ((a_head * b_head - product) + a_head * b_tail + a_tail * b_head) + a_tail * b_tail


@func
def pair_product(a: float64, a_tail: float64, b: float64, b_tail: float64) -> Any:
    """The product of two pairs."""
    product = a * b
    small = rest_of_product(product, a, b) + (a * b_tail + a_tail * b)
    total = product + small
    return vector(total, rest_of_sum(total, product, small))


@func
def pair_sum(a: float64, a_tail: float64, b: float64, b_tail: float64) -> Any:
    """The sum of two pairs."""
    first = a + b
    small = rest_of_any_sum(first, a, b) + (a_tail + b_tail)
    total = first + small
    return vector(total, rest_of_sum(total, first, small))


@func
def quotient(above: float64, above_tail: float64, below: float64, below_tail: float64) -> float64:
    """(above + above_tail) / (below + below_tail), rounded once but for 2^-20 of that; a quotient within f32's range.

    A quotient of 24 bits leaves a remainder that is computed exactly but for the tails' share.
    """
    inverse = 1.0 / below
    first = float64(float32(above * inverse))
    short = float64(float32(below))
    remainder = (above - first * short) - first * (below - short)
    return first + (remainder + (above_tail - first * below_tail)) * inverse


@func
def power_of_two(k: int64) -> float64:
    """2^k for -1022 ≤ k ≤ 1023."""
    return cast(uint64(k + 1023) << 52, float64)


@func
def counted(shifted: float64) -> int64:
    """k of ``shifted`` = WHOLE + k."""
    return cast(shifted, int64) - _WHOLE_BITS


@func
def scaled(y: float64, k: int64) -> float64:
    """y·2^k for -2044 ≤ k ≤ 2046, rounded once where y is near 1."""
    half = k >> 1
    return y * power_of_two(half) * power_of_two(k - half)


@func
def whole(x: float64) -> float64:
    """WHOLE + the whole number nearest to x, for |x| < 2^51."""
    return x + WHOLE
