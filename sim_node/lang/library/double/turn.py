"""Angles of f64 less whole quarter turns, however large they are."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float64, int32, int64, uint64
from sim_node.lang.builtins import abs_, cast, vector
from sim_node.lang.func import func
from sim_node.lang.library.double.coefficients import QUARTER, QUARTER_PARTS, QUARTERS, TURN_WORDS
from sim_node.lang.library.double.parts import rest_of_product, whole
from sim_node.lang.library.rounding import WHOLE, rest_of_any_sum, rest_of_sum

_INFINITY = float64(float("inf"))
_SMALL = 2.0**20
# Of an integer of 64 bits, whose two upper ones are whole quarters: π/2 in its unit, and the places of its halves.
_Q, _Q_TAIL = QUARTER[0] * 2.0**-62, QUARTER[1] * 2.0**-62
_UP, _DOWN, _DOWN_TWICE = 2.0**32, 2.0**-32, 2.0**-64
_LOW = 0xFFFF_FFFF
_FRACTION = 0x000F_FFFF_FFFF_FFFF
_LEADING = 0x0010_0000_0000_0000


@func
def small_turn(x: float64) -> Any:
    """r, its tail, and WHOLE + the number of quarters, for |x| < 2^20 (Cody, Waite): products are exact."""
    shifted = whole(x * QUARTERS)
    count = shifted - WHOLE
    first = x - count * QUARTER_PARTS[0]
    second = first - count * QUARTER_PARTS[1]
    third = second - count * QUARTER_PARTS[2]
    small = rest_of_any_sum(second, first, -(count * QUARTER_PARTS[1]))
    small += rest_of_any_sum(third, second, -(count * QUARTER_PARTS[2]))
    small -= count * QUARTER_PARTS[3]
    r = third + small
    return vector(r, rest_of_any_sum(r, third, small), shifted)


@func
def upper_product(a: uint64, b: uint64) -> uint64:
    """The upper half of a product of 128 bits."""
    a_low, a_high, b_low, b_high = a & _LOW, a >> 32, b & _LOW, b >> 32
    cross = a_high * b_low + ((a_low * b_low) >> 32)
    other = a_low * b_high + (cross & _LOW)
    return a_high * b_high + (cross >> 32) + (other >> 32)


@func
def large_turn(x: float64) -> Any:
    """As ``small_turn``, for finite |x| from 2^20 on.

    Payne, Hanek, 1983, "Radian Reduction for Trigonometric Functions": of 2/π the 192 bits that matter, which those
    before give whole turns with, times the significand, in integers.
    """
    bits = cast(abs_(x), uint64)
    significand = (bits & _FRACTION) | _LEADING
    # the weight of the first bit that matters is two quarters; the words begin with 128 zeros
    start = (bits >> 52) - 949
    index, shift = int32(start >> 6), start & 63
    a, b, c, d = uint64(0), uint64(0), uint64(0), uint64(0)
    for j in range(len(TURN_WORDS)):
        a = uint64(TURN_WORDS[j]) if index == j else a
        b = uint64(TURN_WORDS[j]) if index + 1 == j else b
        c = uint64(TURN_WORDS[j]) if index + 2 == j else c
        d = uint64(TURN_WORDS[j]) if index + 3 == j else d
    first = (a << shift) | ((b >> 1) >> (63 - shift))
    second = (b << shift) | ((c >> 1) >> (63 - shift))
    third = (c << shift) | ((d >> 1) >> (63 - shift))
    middle = significand * second
    low = middle + upper_product(significand, third)
    high = significand * first + upper_product(significand, second) + (1 if low < middle else 0)
    # a fraction of 126 bits: whole quarters above, rounded to nearest
    count = (high + (1 << 61)) >> 62
    left = cast(high - (count << 62), int64)
    one = float64(left >> 32) * _UP
    two = float64(cast(left, uint64) & _LOW)
    three = float64(low >> 32) * _DOWN
    four = float64(low & _LOW) * _DOWN_TWICE
    pair = one + two
    total = pair + three
    small = (rest_of_any_sum(pair, one, two) + rest_of_any_sum(total, pair, three)) + four
    large = total + small
    small = rest_of_any_sum(large, total, small)
    product = large * _Q
    rest = rest_of_product(product, large, _Q) + (large * _Q_TAIL + small * _Q)
    r = product + rest
    tail = rest_of_sum(r, product, rest)
    negative = x < 0.0
    number = float64(count)
    return vector(-r if negative else r, -tail if negative else tail, WHOLE + (-number if negative else number))


@func
def turn(x: float64) -> Any:
    """r and its tail, |r| ≤ π/4, and WHOLE + the number of quarter turns taken off; NaN for infinity."""
    size = abs_(x)
    if size < _SMALL:
        return small_turn(x)
    if size < _INFINITY:
        return large_turn(x)
    return vector(x - x, x - x, x - x)
