"""Functions of the bits of integers."""

from __future__ import annotations

from sim_node.dtypes import int32, int64, uint32, uint64
from sim_node.lang.builtins import cast
from sim_node.lang.func import func


@func
def bit_count(x: uint64) -> int32:
    """Count the bits that are set.

    Sums of neighbours of 1, 2 and 4 bits; the product then adds the bytes into the highest.
    """
    pairs = x - ((x >> 1) & 0x5555_5555_5555_5555)
    fours = (pairs & 0x3333_3333_3333_3333) + ((pairs >> 2) & 0x3333_3333_3333_3333)
    bytes = (fours + (fours >> 4)) & 0x0F0F_0F0F_0F0F_0F0F
    return int32((bytes * 0x0101_0101_0101_0101) >> 56)


@func
def bit_count(x: int64) -> int32:
    """Count the bits that are set in two's complement."""
    return bit_count(cast(x, uint64))


@func
def bit_count(x: uint32) -> int32:
    """Count the bits that are set."""
    return bit_count(uint64(x))


@func
def bit_count(x: int32) -> int32:
    """Count the bits that are set in two's complement."""
    return bit_count(uint64(cast(x, uint32)))
