"""The argument block of a compiled kernel: which words it holds, where, and how compiled code names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim_node.compiler.ir.rules import leaves
from sim_node.dtypes import Scalar, Type, int32

MAX_DIMS = 4
HEAD = 4 * MAX_DIMS  # bytes at the start of the block, for the dims of the launch


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the argument block: its name in LLVM IR, its type and its byte offset."""

    name: str
    scalar: Scalar
    offset: int


def dims() -> tuple[Word, ...]:
    """The dims of the launch, 1 where it has fewer."""
    return tuple(Word(extent(axis), int32, 4 * axis) for axis in range(MAX_DIMS))


def words(types: Sequence[Type | None]) -> tuple[Word, ...]:
    """Lay the parameters out behind the dims, each aligned, in the layout that its type has in memory."""
    placed: list[Word] = []
    end = HEAD
    for i, kind in enumerate(types):
        if kind is None:
            continue
        start = -(-end // kind.align) * kind.align
        placed += [Word(word(i, k), leaf.scalar, start + leaf.offset) for k, leaf in enumerate(leaves(kind))]
        end = start + kind.size
    return tuple(placed)


def size(types: Sequence[Type | None]) -> int:
    """Give the bytes of the argument block, whole words of eight."""
    end = max((word.offset + word.scalar.size for word in words(types)), default=HEAD)
    return -(-end // 8) * 8


def word(index: int, leaf: int = 0) -> str:
    """Name a leaf of a parameter."""
    return f"%a{index}.{leaf}"


def extent(axis: int) -> str:
    """Name a dim of the launch."""
    return f"%d{axis}"


def coordinate(axis: int) -> str:
    """Name a coordinate of the thread."""
    return f"%t{axis}"
