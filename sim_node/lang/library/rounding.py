"""Adding and rounding with nothing lost, in f64 by addition alone: what the math library is made of."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import cast
from sim_node.lang.func import func

# Added to an f64 and taken away again, these round it (half to even) to a multiple of 1 and of 2^-26.
WHOLE = 1.5 * 2.0**52
GRID = 1.5 * 2.0**26


@func
def on_grid(x: float64) -> float64:
    """Round to a multiple of 2^-26, for |x| < 2^25."""
    return (x + GRID) - GRID


@func
def rest_of_sum(total: float64, large: float64, small: float64) -> float64:
    """What ``large + small`` lost when it was rounded to ``total``, exactly; ``large`` is 0 or at least as large.

    Dekker, 1971, "A Floating-Point Technique for Extending the Available Precision".
    """
    return small - (total - large)


@func
def rest_of_any_sum(total: float64, a: float64, b: float64) -> float64:
    """What ``a + b`` lost when it was rounded to ``total``, exactly, whichever is larger (Knuth)."""
    part = total - a
    return (a - (total - part)) + (b - part)


@func
def odd_sum(large: float64, small: float64) -> float64:
    """Add, rounding to odd: an inexact sum becomes that neighbour in f64 whose last bit is set.

    Rounding that to f32 gives what the exact sum rounds to. ``large`` is 0 or at least as large as ``small``.
    Boldo, Melquiond, 2008, "Emulation of a FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd".
    """
    total = large + small
    rest = rest_of_sum(total, large, small)
    bits = cast(total, uint64)
    inward = bits - 1 if (rest < 0.0) != (total < 0.0) else bits
    return cast(inward | 1, float64) if rest != 0.0 else total


@func
def rounded_sum(large: float64, small: float64) -> float32:
    """Round ``large + small`` to f32 once; ``large`` is 0 or at least as large as ``small``."""
    return float32(odd_sum(large, small))


@func
def rounded_quotient(above: float64, above_tail: float64, below: float64, below_tail: float64) -> float32:
    """Round (above + above_tail) / (below + below_tail) to f32 once; the tails are below half a unit in the last place.

    A quotient of 24 bits leaves a remainder that is computed exactly but for the tails' share.
    """
    inverse = 1.0 / below
    quotient = float64(float32(above * inverse))
    short = float64(float32(below))
    remainder = (above - quotient * short) - quotient * (below - short)
    return rounded_sum(quotient, (remainder + (above_tail - quotient * below_tail)) * inverse)


@func
def except_at(x: float32, result: float32, at: float32, right: float32) -> float32:
    """Replace the result of one input."""
    return right if x == at else result
