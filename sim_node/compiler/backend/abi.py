"""The argument block of a compiled kernel: which words it holds, where, and how compiled code names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from sim_node.dtypes import ArrayType, Scalar, Type


class Role(Enum):
    """What a word of the argument block is for."""

    POINTER = auto()  # of an array, 8 bytes
    LENGTH = auto()  # of an array, an int64 below 2^31
    SCALAR = auto()  # a scalar parameter, or a component of a vector one


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its name in LLVM IR, its role, its byte offset, and its type if it is a scalar."""

    name: str
    role: Role
    offset: int
    scalar: Scalar | None = None


def words(types: Sequence[Type | None]) -> tuple[Word, ...]:
    """Lay parameters out in order, each aligned to its scalar and an array to 8 bytes."""
    placed: list[Word] = []
    offset = 0
    for i, kind in enumerate(types):
        if isinstance(kind, ArrayType):
            offset = -(-offset // 8) * 8
            placed += [Word(pointer(i), Role.POINTER, offset), Word(length(i), Role.LENGTH, offset + 8)]
            offset += 16
        elif kind is not None:
            size = kind.scalar.size
            offset = -(-offset // size) * size
            names = [component(i, c) for c in range(kind.length)] if kind.length > 1 else [scalar(i)]
            placed += [Word(name, Role.SCALAR, offset + c * size, kind.scalar) for c, name in enumerate(names)]
            offset += kind.size
    return tuple(placed)


def pointer(index: int) -> str:
    """Name the address of an array parameter."""
    return f"%p{index}"


def length(index: int) -> str:
    """Name the length of an array parameter."""
    return f"%n{index}"


def scalar(index: int) -> str:
    """Name a scalar parameter."""
    return f"%s{index}"


def component(index: int, which: int) -> str:
    """Name a component of a vector parameter."""
    return f"%s{index}.{which}"
