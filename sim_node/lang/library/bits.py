"""Functions of the bits of integers."""

from __future__ import annotations

from sim_node.dtypes import int32, uint64
from sim_node.lang.func import func
from sim_node.lang.hosted import type_of
from sim_node.lang.kinds import Int
from sim_node.lang.static import static


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
def bit_count(x: Int) -> int32:
    """Count the bits that are set, of a signed integer in two's complement."""
    width = type_of(x).bits
    return bit_count(uint64(x) & static((1 << width) - 1))
