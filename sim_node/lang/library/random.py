"""Random numbers from a stream, which each call moves on: integers, numbers from 0 to 1, normal and Poisson ones.

The streams and the ways to numbers are Warp's; logarithm and cosine are ours, so that all devices agree. No function
here relies on another one to move its stream on: so all are right in plain Python too.
"""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, int32, uint32
from sim_node.lang.builtins import cast, floor, sqrt
from sim_node.lang.func import func
from sim_node.lang.library.exponential import exp
from sim_node.lang.library.logarithm import log
from sim_node.lang.library.search import lower_bound
from sim_node.lang.library.stream import advance, between, unit
from sim_node.lang.library.trigonometry import cos

_TURN = 6.2831855
# Keeps the logarithm's argument above 0 and below 1.
_ABOVE_ZERO = 5.96e-8
# Half the logarithm of a turn, and Stirling's series for that of the gamma function (Abramowitz, Stegun, 6.1.41).
_HALF_LOG_TURN = 0.9189385
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680)
# From here on Poisson numbers come by rejection.
_REJECTION = 10.0


@func(changes=("state",))
def randi(state: uint32) -> Any:
    """Any integer."""
    state = advance(state)
    return cast(state, int32), state


@func(changes=("state",))
def randi(state: uint32, low: int32, high: int32) -> Any:
    """An integer from low to below high."""
    state = advance(state)
    return cast(state % cast(high - low, uint32), int32) + low, state


@func(changes=("state",))
def randu(state: uint32) -> Any:
    """Any unsigned integer."""
    state = advance(state)
    return state, state


@func(changes=("state",))
def randu(state: uint32, low: uint32, high: uint32) -> Any:
    """An unsigned integer from low to below high."""
    state = advance(state)
    return state % (high - low) + low, state


@func(changes=("state",))
def randf(state: uint32) -> Any:
    """A number from 0 to below 1."""
    state = advance(state)
    return unit(state), state


@func(changes=("state",))
def randf(state: uint32, low: float32, high: float32) -> Any:
    """A number from low to below high, but for rounding."""
    state = advance(state)
    return between(state, low, high), state


@func(changes=("state",))
def randn(state: uint32) -> Any:
    """A number of the normal distribution around 0 with deviation 1 (Box, Muller)."""
    first = advance(state)
    state = advance(first)
    return sqrt(-2.0 * log(unit(first) + _ABOVE_ZERO)) * cos(_TURN * unit(state)), state


@func(changes=("state",))
def sample_cdf(state: uint32, cdf: Any) -> Any:
    """An index, as often as a sorted array of cumulated probabilities says."""
    state = advance(state)
    return lower_bound(cdf, unit(state)), state


@func
def log_factorial(k: float32) -> float32:
    """Logarithm of k!, for whole k; below 7 by moving up, since the series wants large arguments."""
    x, product = k + 1.0, float32(1.0)
    while x < 7.0:
        product *= x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = (_STIRLING[0] + square * (_STIRLING[1] + square * (_STIRLING[2] + square * _STIRLING[3]))) * inverse
    return series + _HALF_LOG_TURN + (x - 0.5) * log(x) - x - log(product)


@func
def poisson_by_products(state: uint32, lam: float32) -> Any:
    """Count how many numbers from 0 to 1 can be multiplied until they are below exp(-lam)."""
    least, count = exp(-lam), uint32(0)
    state = advance(state)
    product = unit(state)
    while product > least:
        count += 1
        state = advance(state)
        product *= unit(state)
    return count, state


@func
def poisson_by_rejection(state: uint32, lam: float32) -> Any:
    """Transformed rejection. Hörmann, 1993, "The transformed rejection method for generating Poisson variables"."""
    root, log_lam = sqrt(lam), log(lam)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        first = advance(state)
        state = advance(first)
        u, v = unit(first) - 0.5, unit(state)
        near = 0.5 - abs(u)
        k = floor((2.0 * a / near + b) * u + lam + 0.43)
        if near >= 0.07 and v <= sure:
            return uint32(k), state
        if k < 0.0 or (near < 0.013 and v > near):
            continue
        if log(v) + log(scale) - log(a / (near * near) + b) <= -lam + k * log_lam - log_factorial(k):
            return uint32(k), state


@func(changes=("state",))
def poisson(state: uint32, lam: float32) -> Any:
    """How often something happens that happens lam times on average."""
    if lam >= _REJECTION:
        return poisson_by_rejection(state, lam)
    if lam == 0.0:
        return uint32(0), state
    return poisson_by_products(state, lam)
