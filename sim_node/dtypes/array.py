"""Arrays: elements in the memory of a device, known to a kernel by a descriptor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union

from sim_node.dtypes.scalar import Leaf, int32, int64, pointer

if TYPE_CHECKING:
    from sim_node.dtypes import Element

LAYOUTS = ("contiguous", "strided", "indexed")  # by their code, which C stores


@dataclass(frozen=True)
class ArrayType:
    """An array of elements in device memory; its layout is one of LAYOUTS.

    Its leaves are its descriptor: the address of the data; an i32 extent a dimension; for strided and indexed arrays an
    i64 stride a dimension, in bytes; for indexed ones the address of a list of i32 indices a dimension, 0 where that
    dimension is not indexed.
    """

    dtype: Element
    ndim: int = 1
    layout: str = "contiguous"

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The descriptor's words."""
        leaves = [Leaf(pointer, 0), *(Leaf(int32, 8 + 4 * i) for i in range(self.ndim))]
        end = 8 + -(-4 * self.ndim // 8) * 8
        for word, layouts in ((int64, LAYOUTS[1:]), (pointer, LAYOUTS[2:])):
            if self.layout in layouts:
                leaves += [Leaf(word, end + 8 * i) for i in range(self.ndim)]
                end += 8 * self.ndim
        return tuple(leaves)

    @cached_property
    def size(self) -> int:
        """Bytes of the descriptor."""
        last = self.leaves[-1]
        return -(-(last.offset + last.scalar.size) // 8) * 8

    @property
    def align(self) -> int:
        """Alignment of the descriptor."""
        return 8

    def extent(self, dimension: int) -> int:
        """The number of the leaf that holds an extent."""
        return 1 + dimension

    def stride(self, dimension: int) -> int:
        """The number of the leaf that holds a stride; strided and indexed arrays have them."""
        return 1 + self.ndim + dimension

    def index(self, dimension: int) -> int:
        """The number of the leaf that holds the address of a dimension's indices; indexed arrays have them."""
        return 1 + 2 * self.ndim + dimension

    @property
    def name(self) -> str:
        """How a reader sees the type."""
        return repr(self)

    @cached_property
    def text(self) -> str:
        """How the IR writes the type."""
        return f"array<{','.join([self.dtype.text, *self._rest])}>"

    @property
    def _rest(self) -> list[str]:
        layout = [] if self.layout == LAYOUTS[0] else [self.layout]
        return [str(self.ndim), *layout] if self.ndim != 1 or layout else []

    def __or__(self, other: Any) -> Any:
        """Annotate Python code that takes this or another: ``sn.array[float] | None``; a kernel's has one type."""
        return Union[self, other]  # noqa: UP007 - this is what | means

    def __ror__(self, other: Any) -> Any:
        """As ``|`` from the left."""
        return Union[other, self]  # noqa: UP007 - this is what | means

    def __repr__(self) -> str:
        return f"array<{', '.join([repr(self.dtype), *self._rest])}>"


def strided(kind: Any) -> Any:
    """The type for an array that may lie anywhere, if the type is a contiguous array's; any other as it is."""
    return replace(kind, layout=LAYOUTS[1]) if isinstance(kind, ArrayType) and kind.layout == LAYOUTS[0] else kind
