"""Loads a relocatable object into executable memory, with the standard library only: no linker, and no LLVM.

The file is not trusted: every offset, size and index is checked against it before use. Memory is writable while the
object is copied and patched, and executable after; never both.

Format: System V ABI, "Object Files"; ``relocations`` has the part that depends on the machine.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from sim_node.compiler.backend.relocations import MACHINES, Memory
from sim_node.compiler.backend.relocations import ObjectError as ObjectError

_HEADER = struct.Struct("<4sBBB9xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QIIq")
_PROGBITS, _SYMTAB, _RELOCATIONS, _NOBITS = 1, 2, 4, 8
_WRITE, _ALLOC = 1, 2
_LIMIT = 1 << 28  # bytes of code that one object may take


class UndefinedSymbolError(ObjectError):
    """The object calls something outside itself."""


@dataclass(frozen=True)
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
    """Map an object of this machine for execution.

    Raises ObjectError naming the fault, UndefinedSymbolError where the object is not self-contained.
    """
    names, memory = _guarded(image, platform.machine())
    base = _address(memory)
    _protect()(base, len(memory))
    return Code({name: base + offset for name, offset in names.items()}, memory)


def check(image: bytes, machine: str) -> None:
    """Do all that loading does but run it, for an object of any machine; raises as ``load``."""
    _guarded(image, machine)


def _guarded(image: bytes, machine: str) -> tuple[dict[str, int], mmap.mmap]:
    try:
        return _lay(image, machine)
    except (struct.error, IndexError, OverflowError, UnicodeDecodeError) as error:
        raise ObjectError(f"the object is damaged: {error}") from error


def _lay(image: bytes, machine: str) -> tuple[dict[str, int], mmap.mmap]:
    """Lay the object out in memory and patch it; gives the offsets of its functions and the memory."""
    sections, number = _sections(image, machine)
    places, size = _place(sections)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    base = _address(memory)
    for i, start in places.items():
        section = sections[i]
        if section.kind == _PROGBITS:
            memory[start : start + section.size] = _slice(image, section.offset, section.size)
    symbols, names = _symbols(image, sections, places)
    for section in sections:
        if section.kind == _RELOCATIONS and section.info in places:
            table = _slice(image, section.offset, section.size)
            patch(number, table, memory, places[section.info], sections[section.info].size, symbols, base)
    return names, memory


def _address(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


@cache
def _protect() -> Callable[[int, int], None]:
    """Give what makes memory executable and no longer writable."""
    call = ctypes.CDLL(None, use_errno=True).mprotect
    call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

    def protect(base: int, size: int) -> None:
        if call(base, size, mmap.PROT_READ | mmap.PROT_EXEC):
            what = f"memory cannot be made executable (error {ctypes.get_errno()})"
            raise ObjectError(f"{what}; the system's security policy forbids it")

    return protect


def _sections(image: bytes, wanted: str) -> tuple[list[_Section], int]:
    magic, bits, order, _version, kind, machine, *rest = _HEADER.unpack_from(image)
    table, entry, count = rest[3], rest[8], rest[9]
    if magic != b"\x7fELF" or (bits, order, kind) != (2, 1, 1):
        raise ObjectError("not a relocatable 64-bit little-endian ELF object")
    name = MACHINES[machine][0] if machine in MACHINES else f"machine {machine}"
    if name != wanted:
        raise ObjectError(f"the object is for {name}, and this is {wanted}")
    if entry != _SECTION.size:
        raise ObjectError(f"the object is damaged: section headers of {entry} bytes")
    return [_Section(*_SECTION.unpack_from(image, table + i * entry)) for i in range(count)], machine


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
    for at, info, _other, home, value, _size in _SYMBOL.iter_unpack(_slice(image, table.offset, table.size)):
        if home not in places:
            if home == 0 and (name := _name(text, at)):
                raise UndefinedSymbolError(f"the object needs '{name}', which is not part of it")
            offsets.append(None)
            continue
        if value > sections[home].size:
            raise ObjectError(f"the object is damaged: symbol '{_name(text, at)}' lies outside its section")
        offsets.append(places[home] + value)
        if info & 15 == 2:
            names[_name(text, at)] = places[home] + value
    return offsets, names


def _name(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    return strings[at:end].decode() if end > at else ""


def patch(
    machine: int, table: bytes, memory: Memory, start: int, size: int, symbols: list[int | None], base: int
) -> None:
    """Apply one table of relocations to the section of ``size`` bytes that lies at ``start`` in memory.

    ``machine`` is ELF's number of it; ``symbols`` are offsets from ``base``, the address of the memory.
    """
    name, rows = MACHINES[machine]
    for offset, kind, number, addend in _RELA.iter_unpack(table):
        symbol = symbols[number]
        if kind not in rows:
            raise ObjectError(f"relocation type {kind} of {name} is not supported")
        width, write = rows[kind]
        if symbol is None or offset + width > size:
            raise ObjectError("the object is damaged: a relocation lies outside its section or refers to nothing")
        write(memory, start + offset, base + start + offset, base + symbol + addend)


def _slice(image: bytes, offset: int, size: int) -> bytes:
    if offset + size > len(image):
        raise ObjectError(f"the object is damaged: {size} bytes at {offset} of {len(image)}")
    return image[offset : offset + size]
