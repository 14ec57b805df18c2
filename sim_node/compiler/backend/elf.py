"""Loads a relocatable object into executable memory, with the standard library only: no linker, and no LLVM.

The file is not trusted: every offset, size and index is checked against it before use. Memory is writable while the
object is copied and patched, and executable after; never both.

Format: System V ABI, "Object Files", and its AMD64 supplement, table 4.9 (relocation types).
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from dataclasses import dataclass
from typing import NamedTuple

from sim_node.errors import SimNodeError

_HEADER = struct.Struct("<4sBBB9xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_X86_64 = 62
_MACHINES = {3: "i386", 40: "arm", 183: "aarch64", 243: "riscv"}
_PROGBITS, _SYMTAB, _RELOCATIONS, _NOBITS = 1, 2, 4, 8
_WRITE, _ALLOC = 1, 2
_LIMIT = 1 << 28  # bytes of code that one object may take

# type → (format of the patched word, whether it is relative to where it stands)
PATCHES = {1: ("<Q", False), 2: ("<i", True), 4: ("<i", True), 24: ("<q", True)}  # 64, PC32, PLT32, PC64


class ObjectError(SimNodeError):
    """A compiled object is damaged, or of a kind that cannot be loaded here."""


class UndefinedSymbolError(ObjectError):
    """The object calls something outside itself."""


@dataclass(frozen=True, slots=True)
class Code:
    """A loaded object: the addresses of its functions, valid while this lives."""

    symbols: dict[str, int]
    memory: mmap.mmap


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


def load(image: bytes) -> Code:
    """Map an object for execution.

    Raises ObjectError naming the fault, UndefinedSymbolError where the object is not self-contained.
    """
    try:
        return _load(image)
    except (struct.error, IndexError, OverflowError, UnicodeDecodeError) as error:
        raise ObjectError(f"the object is damaged: {error}") from error


def _load(image: bytes) -> Code:
    sections = _sections(image)
    places, size = _place(sections)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for i, start in places.items():
        section = sections[i]
        if section.kind == _PROGBITS:
            memory[start : start + section.size] = _slice(image, section.offset, section.size)
    symbols, names = _symbols(image, sections, places)
    for section in sections:
        if section.kind == _RELOCATIONS and section.info in places:
            table = _slice(image, section.offset, section.size)
            patch(table, memory, places[section.info], sections[section.info].size, symbols, base)
    protection = ctypes.CDLL(None, use_errno=True).mprotect
    protection.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if protection(base, size, mmap.PROT_READ | mmap.PROT_EXEC):
        number = ctypes.get_errno()
        raise ObjectError(f"memory cannot be made executable (error {number}); the system's security policy forbids it")
    return Code({name: base + offset for name, offset in names.items()}, memory)


def _sections(image: bytes) -> list[_Section]:
    magic, bits, order, _version, kind, machine, *rest = _HEADER.unpack_from(image)
    table, entry, count = rest[3], rest[8], rest[9]
    if magic != b"\x7fELF" or (bits, order, kind) != (2, 1, 1):
        raise ObjectError("not a relocatable 64-bit little-endian ELF object")
    if machine != _X86_64:
        raise ObjectError(
            f"objects for {_MACHINES.get(machine, f'machine {machine}')} are not supported, only for x86-64"
        )
    if entry != _SECTION.size:
        raise ObjectError(f"the object is damaged: section headers of {entry} bytes")
    return [_Section(*_SECTION.unpack_from(image, table + i * entry)) for i in range(count)]


def _place(sections: list[_Section]) -> tuple[dict[int, int], int]:
    """Choose where each section that takes memory goes, and how much all take."""
    places: dict[int, int] = {}
    end = 0
    for i, section in enumerate(sections):
        if not section.flags & _ALLOC or not section.size:
            continue
        if section.flags & _WRITE or section.kind == _NOBITS:
            raise ObjectError(f"section {i} is writable, which code never needs")
        align = max(section.align, 1)
        if align & (align - 1) or align > mmap.PAGESIZE:
            raise ObjectError(f"the object is damaged: section {i} is aligned to {align}")
        places[i] = -(-end // align) * align
        end = places[i] + section.size
        if end > _LIMIT:
            raise ObjectError(f"the object is damaged or too large: its sections take more than {_LIMIT} bytes")
    if not places:
        raise ObjectError("the object holds no code")
    return places, end


def _symbols(image: bytes, sections: list[_Section], places: dict[int, int]) -> tuple[list[int | None], dict[str, int]]:
    """Give the offset of every symbol (None where it has none), and of the functions by name."""
    table = next((section for section in sections if section.kind == _SYMTAB), None)
    if table is None:
        raise ObjectError("the object holds no symbols")
    strings = sections[table.link]
    text = _slice(image, strings.offset, strings.size)
    offsets: list[int | None] = []
    names: dict[str, int] = {}
    for fields in _SYMBOL.iter_unpack(_slice(image, table.offset, table.size)):
        at, info, _other, home, value, _size = fields
        name = text[at : text.index(b"\0", at)].decode() if at < len(text) and b"\0" in text[at:] else ""
        if home == 0 and name:
            raise UndefinedSymbolError(f"the object needs '{name}', which is not part of it")
        if home not in places:
            offsets.append(None)
            continue
        if value > sections[home].size:
            raise ObjectError(f"the object is damaged: symbol '{name}' lies outside its section")
        offsets.append(places[home] + value)
        if info & 15 == 2:
            names[name] = places[home] + value
    return offsets, names


def patch(
    table: bytes, memory: mmap.mmap | memoryview, start: int, size: int, symbols: list[int | None], base: int
) -> None:
    """Apply one table of relocations to the section of ``size`` bytes that lies at ``start`` in memory.

    ``symbols`` are offsets from ``base``, the address of the memory.
    """
    for offset, info, addend in _RELA.iter_unpack(table):
        kind, symbol = info & 0xFFFFFFFF, symbols[info >> 32]
        if kind not in PATCHES:
            raise ObjectError(f"relocation type {kind} of x86-64 is not supported")
        layout, relative = PATCHES[kind]
        if symbol is None or offset + struct.calcsize(layout) > size:
            raise ObjectError("the object is damaged: a relocation lies outside its section or refers to nothing")
        target = base + symbol + addend
        struct.pack_into(layout, memory, start + offset, target - (base + start + offset) if relative else target)


def _slice(image: bytes, offset: int, size: int) -> bytes:
    if offset + size > len(image):
        raise ObjectError(f"the object is damaged: {size} bytes at {offset} of {len(image)}")
    return image[offset : offset + size]
