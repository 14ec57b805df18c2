"""Streams of random numbers: one u32 of state, PCG's step and output, and Warp's ways to numbers from its bits.

Every device has the same stream for the same seed, since nothing but integers and exact conversions is used.
Jarzynski, Olano, 2020, "Hash Functions for GPU Rendering", Journal of Computer Graphics Techniques 9 (3): ``pcg``.
"""

from __future__ import annotations

from sim_node.dtypes import float32, int32, uint32
from sim_node.lang.builtins import cast
from sim_node.lang.func import func

_UNIT = 2.0**-24


@func
def advance(state: uint32) -> uint32:
    """Give the state that follows, which is also the next 32 random bits."""
    word = state * 747796405 + 2891336453
    mixed = ((word >> ((word >> 28) + 4)) ^ word) * 277803737
    return (mixed >> 22) ^ mixed


@func
def rand_init(seed: int32) -> uint32:
    """Start a stream of random numbers."""
    return advance(cast(seed, uint32))


@func
def rand_init(seed: int32, offset: int32) -> uint32:
    """Start one of the streams of a seed, such as one for each thread."""
    return advance(cast(seed, uint32) + advance(cast(offset, uint32)))


@func
def unit(bits: uint32) -> float32:
    """Random bits as a number from 0 to 1 - 2^-24, in steps of 2^-24: each conversion here is exact."""
    return float32(bits >> 8) * _UNIT


@func
def between(bits: uint32, low: float32, high: float32) -> float32:
    """Random bits as a number from low to below high, but for rounding."""
    return (high - low) * unit(bits) + low
