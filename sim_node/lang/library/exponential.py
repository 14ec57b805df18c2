"""Exponentials of f32, correctly rounded for every argument (``docs/math.md``)."""

from __future__ import annotations

from sim_node.dtypes import float32, float64, uint64
from sim_node.lang.builtins import cast
from sim_node.lang.func import func
from sim_node.lang.library.coefficients import EXP, LN2_HEAD, LN2_REST, LN2_SHORT, LN2_TAIL, LOG2_E
from sim_node.lang.library.rounding import WHOLE, odd_sum, on_grid, rest_of_sum

# Beyond these every result is 0 or infinite, as it is at them.
_EXP_LEAST, _EXP_MOST = -104.0, 89.0
_EXP2_LEAST, _EXP2_MOST = -151.0, 129.0


@func
def power_of_two(shifted: float64) -> float64:
    """2^k for ``shifted`` = WHOLE + k, -1022 ≤ k ≤ 1023: k stands in the low bits."""
    return cast((cast(shifted, uint64) + 1023) << 52, float64)


@func
def exp_rest(r: float64) -> float64:
    """exp(r) - 1 - r - r²/2 for |r| ≤ ln(2)/2."""
    s = r * r
    low = (EXP[0] + r * EXP[1]) + s * (EXP[2] + r * EXP[3])
    middle = (EXP[4] + r * EXP[5]) + s * (EXP[6] + r * EXP[7])
    high = (EXP[8] + r * EXP[9]) + s * EXP[10]
    q = s * s
    return r * s * (low + q * (middle + q * high))


@func
def exp_reduced(grid: float64, rest: float64) -> float64:
    """exp(grid + rest), rounded to odd; ``grid`` is a multiple of 2^-26 up to ln(2)/2: its square is exact."""
    first = grid + 0.5 * grid * grid
    large = 1.0 + first
    small = rest + (rest * (grid + 0.5 * rest) + exp_rest(grid + rest))
    return odd_sum(large, rest_of_sum(large, 1.0, first) + small)


@func
def exp(x: float32) -> float32:
    """e^x, correctly rounded."""
    wide = float64(x)
    above = _EXP_LEAST if wide < _EXP_LEAST else wide
    r = _EXP_MOST if above > _EXP_MOST else above
    shifted = r * LOG2_E + WHOLE
    k = shifted - WHOLE
    reduced = r - k * LN2_HEAD
    grid = on_grid(reduced)
    return float32(exp_reduced(grid, (reduced - grid) - k * LN2_TAIL) * power_of_two(shifted))


@func
def exp2(x: float32) -> float32:
    """2^x, correctly rounded."""
    wide = float64(x)
    above = _EXP2_LEAST if wide < _EXP2_LEAST else wide
    r = _EXP2_MOST if above > _EXP2_MOST else above
    shifted = r + WHOLE
    fraction = r - (shifted - WHOLE)
    reduced = fraction * LN2_SHORT
    grid = on_grid(reduced)
    return float32(exp_reduced(grid, (reduced - grid) + fraction * LN2_REST) * power_of_two(shifted))
