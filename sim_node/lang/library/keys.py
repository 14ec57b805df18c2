"""Keys of sorts as bits, and their digits."""

from __future__ import annotations

from typing import Any

from sim_node.dtypes import float32, float64, int32, int64, uint32, uint64
from sim_node.lang.builtins import cast
from sim_node.lang.func import func


@func
def ordered(key: uint64) -> uint64:
    """Bits that are in the order of the keys."""
    return key


@func
def ordered(key: uint32) -> uint64:
    """Bits that are in the order of the keys."""
    return uint64(key)


@func
def ordered(key: int64) -> uint64:
    """Bits that are in the order of the keys: the sign turned."""
    return cast(key, uint64) ^ 0x8000_0000_0000_0000


@func
def ordered(key: int32) -> uint64:
    """Bits that are in the order of the keys: the sign turned."""
    return uint64(cast(key, uint32) ^ 0x8000_0000)


@func
def ordered(key: float64) -> uint64:
    """Bits that are in the order of the keys: all turned where it is below zero. -0.0 is below 0.0, NaN above all."""
    bits = cast(key, uint64)
    return ~bits if bits >> 63 != 0 else bits ^ 0x8000_0000_0000_0000


@func
def ordered(key: float32) -> uint64:
    """Bits that are in the order of the keys: all turned where it is below zero. -0.0 is below 0.0, NaN above all."""
    bits = cast(key, uint32)
    return uint64(~bits if bits >> 31 != 0 else bits ^ 0x8000_0000)


@func
def digit(key: Any, shift: int32, mask: uint64) -> int32:
    """A digit of a key."""
    return int32((ordered(key) >> uint64(shift)) & mask)
