"""Types of parts that differ: structs in C layout, and the tuples that kernels make on their way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sim_node.dtypes.array import LAYOUTS, ArrayType, strided
from sim_node.dtypes.composite import MAKE
from sim_node.dtypes.scalar import Leaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim_node.dtypes import Type


def placed(types: Sequence[Type]) -> tuple[tuple[int, ...], int, int]:
    """Lay types out one after the other as C does: the offset of each, the size of all, and its alignment."""
    offsets, end, align = [], 0, 1
    for one in types:
        end = -(-end // one.align) * one.align
        offsets.append(end)
        end, align = end + one.size, max(align, one.align)
    return tuple(offsets), -(-end // align) * align, align


def _leaves(types: Sequence[Type], offsets: Sequence[int]) -> tuple[Leaf, ...]:
    return tuple(Leaf(leaf.scalar, at + leaf.offset) for one, at in zip(types, offsets) for leaf in one.leaves)


# What an array's descriptor holds a dimension, behind the address; a layout has as many as its code and one.
_DESCRIPTOR = (("shape", "i4"), ("strides", "i8"), ("indices", "u8"))


def _part(type_: Any) -> np.dtype[Any]:
    """The numpy dtype of a field: of an array its address, shape, strides and lists of indices."""
    if isinstance(type_, ArrayType):
        words = [(word, kind, (type_.ndim,)) for word, kind in _DESCRIPTOR[: LAYOUTS.index(type_.layout) + 1]]
        return np.dtype([("address", "u8"), *words], align=True)
    return np.dtype(type_.numpy_dtype()) if isinstance(type_, Struct) else np.dtype((type_.numpy, type_.shape))


@dataclass(frozen=True)
class Struct:
    """Named fields in C layout; calling it gives a host's instance."""

    name: str
    fields: tuple[tuple[str, Type], ...]

    @cached_property
    def types(self) -> tuple[Type, ...]:
        """The types of the fields: an array in a struct has strides, whatever it is annotated as."""
        return tuple(strided(type_) for _, type_ in self.fields)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The byte where each field begins."""
        return placed(self.types)[0]

    @cached_property
    def size(self) -> int:
        """Bytes of one element in memory; one where there are no fields, as in C++, so that each has its address."""
        return placed(self.types)[1] or 1

    @cached_property
    def align(self) -> int:
        """What the address of an element is a multiple of."""
        return placed(self.types)[2]

    def numpy_dtype(self) -> Any:
        """What ``numpy.dtype`` takes for the structured dtype of an element: C layout, arrays as descriptors."""
        formats = [_part(type_) for type_ in self.types]
        names = [name for name, _ in self.fields]
        return {"names": names, "formats": formats, "offsets": list(self.offsets), "itemsize": self.size}

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The scalars, in the order of memory."""
        return _leaves(self.types, self.offsets)

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of one element: none."""
        return ()

    @cached_property
    def text(self) -> str:
        """How the IR writes the type: its names are not part of the code."""
        return f"struct<{','.join(type_.text for type_ in self.types)}>"

    def place(self, name: str) -> tuple[int, Type] | None:
        """Find a field: its first leaf and its type; None where there is none of the name."""
        first = 0
        for (field, _), type_ in zip(self.fields, self.types):
            if field == name:
                return first, type_
            first += len(type_.leaves)
        return None

    @property
    def __name__(self) -> str:
        """The name, where classes have theirs."""
        return self.name

    @property
    def cls(self) -> Struct:
        """What instances are instances of, in Warp's word: the type."""
        return self

    def __mro_entries__(self, _: object) -> tuple[type, ...]:
        raise TypeError(f"structs do not inherit: '{self.name}' is a type; make it a field")

    def __instancecheck__(self, value: object) -> bool:
        return getattr(value, "_type", None) == self

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Make an instance; ``lang.values`` says of what."""
        return MAKE[type(self)](self, *values, **named)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Tuple:
    """Values that a kernel hands on together; it lies in no memory."""

    items: tuple[Type, ...]

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The scalars, in order."""
        return _leaves(self.items, placed(self.items)[0])

    @cached_property
    def size(self) -> int:
        """Bytes, if it lay in memory."""
        return placed(self.items)[1]

    @cached_property
    def align(self) -> int:
        """Alignment, if it lay in memory."""
        return placed(self.items)[2]

    @cached_property
    def text(self) -> str:
        """How the IR writes the type."""
        return f"tuple<{','.join(item.text for item in self.items)}>"

    @property
    def name(self) -> str:
        """How a reader sees the type."""
        return repr(self)

    def place(self, number: int) -> tuple[int, Type]:
        """Find an item: its first leaf and its type."""
        return sum(len(item.leaves) for item in self.items[:number]), self.items[number]

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self.items))}{',' if len(self.items) == 1 else ''})"
