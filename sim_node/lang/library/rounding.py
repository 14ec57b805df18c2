"""Adding with nothing lost, in f64 by addition alone, and what rounding needs beside it."""

from __future__ import annotations

from sim_node.dtypes import float32, float64
from sim_node.lang.func import func

# Added to an f64 and taken away again, it rounds it (half to even) to a whole number, which stands in the low bits.
WHOLE = 1.5 * 2.0**52


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
def except_at(x: float32, result: float32, at: float32, right: float32) -> float32:
    """Replace the result of one input."""
    other = float32(right)
    return other if x == at else result
