"""What a relocation of each machine writes, one row a type.

System V ABI, AMD64 supplement, table 4.9; ELF for the Arm 64-bit Architecture, "Static AArch64 relocations". S is the
address of the symbol, A the addend, P the address of the word that is patched.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from mmap import mmap

from sim_node.errors import SimNodeError

Memory = mmap | memoryview
# Memory, where the word lies in it, P, and S + A.
Patch = Callable[[Memory, int, int, int], None]


class ObjectError(SimNodeError):
    """A compiled object is damaged, or of a kind that cannot be loaded here."""


def _word(layout: str, relative: bool) -> Patch:
    write = struct.Struct(layout).pack_into

    def patch(memory: Memory, at: int, place: int, value: int) -> None:
        write(memory, at, value - place if relative else value)

    return patch


def _branch(memory: Memory, at: int, place: int, value: int) -> None:
    """BL and B: words from here, in 26 bits."""
    distance = value - place
    if distance & 3 or not -(1 << 27) <= distance < 1 << 27:
        raise ObjectError(f"the object is damaged: a branch over {distance} bytes")
    _field(memory, at, distance >> 2, 0, 26)


def _page(memory: Memory, at: int, place: int, value: int) -> None:
    """ADRP: pages of 4 KiB from here, 21 bits, of which the two lowest stand apart."""
    pages = (value >> 12) - (place >> 12)
    if not -(1 << 20) <= pages < 1 << 20:
        raise ObjectError(f"the object is damaged: an address {pages} pages away")
    _field(memory, at, pages & 3, 29, 2)
    _field(memory, at, pages >> 2, 5, 19)


def _near(memory: Memory, at: int, place: int, value: int) -> None:
    """ADR: bytes from here, 21 bits, of which the two lowest stand apart."""
    distance = value - place
    if not -(1 << 20) <= distance < 1 << 20:
        raise ObjectError(f"the object is damaged: an address {distance} bytes away")
    _field(memory, at, distance & 3, 29, 2)
    _field(memory, at, distance >> 2, 5, 19)


def _low(shift: int) -> Patch:
    """ADD, and loads and stores of 1 << shift bytes: the address inside its page, in their unit."""

    def patch(memory: Memory, at: int, place: int, value: int) -> None:
        del place
        offset = value & 0xFFF
        if offset & ((1 << shift) - 1):
            raise ObjectError(f"the object is damaged: a constant of {1 << shift} bytes at offset {offset}")
        _field(memory, at, offset >> shift, 10, 12)

    return patch


def _field(memory: Memory, at: int, value: int, low: int, bits: int) -> None:
    (word,) = struct.unpack_from("<I", memory, at)
    mask = ((1 << bits) - 1) << low
    struct.pack_into("<I", memory, at, (word & ~mask) | ((value << low) & mask))


# ELF's number of a machine → its name, and type → size of the patched word, what is written.
MACHINES: dict[int, tuple[str, dict[int, tuple[int, Patch]]]] = {
    62: (
        "x86_64",
        {1: (8, _word("<Q", False)), 2: (4, _word("<i", True)), 4: (4, _word("<i", True)), 24: (8, _word("<q", True))},
    ),
    183: (
        "aarch64",
        {
            257: (8, _word("<Q", False)),  # ABS64
            260: (8, _word("<q", True)),  # PREL64
            261: (4, _word("<i", True)),  # PREL32
            274: (4, _near),  # ADR_PREL_LO21
            275: (4, _page),  # ADR_PREL_PG_HI21
            277: (4, _low(0)),  # ADD_ABS_LO12_NC
            278: (4, _low(0)),  # LDST8_ABS_LO12_NC
            282: (4, _branch),  # JUMP26
            283: (4, _branch),  # CALL26
            284: (4, _low(1)),  # LDST16_ABS_LO12_NC
            285: (4, _low(2)),  # LDST32_ABS_LO12_NC
            286: (4, _low(3)),  # LDST64_ABS_LO12_NC
            299: (4, _low(4)),  # LDST128_ABS_LO12_NC
        },
    ),
}
