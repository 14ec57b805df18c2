"""The arrays of a random program, of one to four dimensions, and places in them: each thread writes its own only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from palette import EXTENTS, Palette, Type

from sim_node.dtypes import ArrayType, Struct, int32, int64, uint32, uint64
from sim_node.dtypes.array import strided

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from expressions import Block

T = TypeVar("T")


@dataclass(frozen=True)
class Array:
    """What a program reads at any index or, where it may write it, at the thread's own.

    ``dims`` has for each dimension the thread's own coordinate, or the number of elements where all are its own.
    """

    name: str
    kind: Type
    dims: tuple[str | int, ...]
    layout: str
    written: bool


def parameters(palette: Palette) -> list[Array]:
    """The arrays that a kernel of a palette is given, also in structs."""
    given = [
        Array(name, kind.dtype, palette.dims(kind.ndim), kind.layout, name[0] == "y")
        for name, kind in palette.arrays.items()
    ]
    return given + [array for name, kind in palette.values.items() for array in held(palette, name, kind)]


def held(palette: Palette, name: str, kind: Any) -> list[Array]:
    """The arrays that a value of a type holds, under the name that it has; there they lie in strides."""
    made = []
    for part, its in kind.fields if isinstance(kind, Struct) else ():
        if isinstance(its, ArrayType):
            layout = strided(its).layout
            made.append(Array(f"{name}.{part}", its.dtype, palette.dims(its.ndim), layout, part[0] == "w"))
        else:
            made += held(palette, f"{name}.{part}", its)
    return made


def alike(made: Array, arrays: list[Array]) -> list[Array]:
    """The arrays that may stand where this one is held in a struct."""
    return [
        one for one in arrays
        if replace(made, name=one.name, layout=one.layout) == one
        and (made.layout == "indexed") == (one.layout == "indexed")
    ]  # fmt: skip


class Arrays:
    """What ``Expressions`` writes of arrays; that class has the rest."""

    if TYPE_CHECKING:
        palette: Palette
        random: Random
        apart: bool
        inside: int

        def pick(self, options: Iterable[T]) -> T: ...
        def chance(self, probability: float) -> bool: ...
        def expression(self, kind: Type, block: Block, depth: int | None = None) -> str: ...
        def leaf(self, kind: Type, block: Block) -> str: ...

    def own(self, block: Block, kinds: Sequence[Type]) -> tuple[str, Type]:
        """A place that is the thread's own, of one of some types, and its type."""
        within = [both for kind in kinds for both in self.within(block, kind) if both[1].written]
        if within and self.chance(0.2):
            array = self.inner(*self.pick(within), block)
        else:
            array = self.pick(one for one in block.arrays if one.written and one.kind in kinds)
        return self.at(array, self.mine(array)), array.kind

    def mine(self, array: Array) -> list[str]:
        """The indices of an element that is the thread's own."""
        return [dim if isinstance(dim, str) else str(self.random.randrange(dim)) for dim in array.dims]

    def read(self, kind: Type, block: Block) -> str:
        """An element of an array, at any index of one that is not written."""
        within = self.within(block, kind)
        if within and self.chance(0.3):
            array = self.inner(*self.pick(within), block)
        else:
            array = self.pick(one for one in block.arrays if one.kind == kind)
        indices = self.mine(array) if array.written else self.indices(array, block)
        return self.at(array, indices)

    def within(self, block: Block, kind: Type) -> list[tuple[Array, Array]]:
        """The arrays of a type that elements of arrays hold, each behind the array of these."""
        return [(one, its) for one in block.arrays for its in held(self.palette, "", one.kind) if its.kind == kind]

    def inner(self, outer: Array, array: Array, block: Block) -> Array:
        """An array that an element holds; all elements hold the same."""
        return replace(array, name=self.at(outer, self.indices(outer, block)) + array.name)

    def at(self, array: Array, indices: list[str]) -> str:
        """Write an element: by all indices at once, or of a view or slice."""
        if self.chance(0.75):
            return f"{array.name}[{', '.join(indices)}]"
        if array.layout == "indexed" or self.chance(0.4):
            cut = self.random.randrange(len(indices)) + 1
            rest = f"[{', '.join(indices[cut:])}]" if indices[cut:] else ""
            return f"{array.name}[{', '.join(indices[:cut])}]{rest}"
        sliced = [self.chance(0.5) for _ in indices]
        if not any(sliced):
            sliced[0] = True
        keys = [self.slice(array, dim) if sliced[at] else indices[at] for at, dim in enumerate(array.dims)]
        rest = ", ".join(index for at, index in enumerate(indices) if sliced[at])
        return f"{array.name}[{', '.join(keys)}][{rest}]"

    def slice(self, array: Array, dim: str | int) -> str:
        """A slice of nearly all elements; where the array is written the thread's own stays where it is."""
        if array.written:
            return ":" if isinstance(dim, str) else self.pick([":", "::-1"])
        return self.pick([":", ":", "::-1", "-9:", *(["::2", "1:"] if self.chance(0.1) else [])])

    def indices(self, array: Array, block: Block) -> list[str]:
        """Indices that are nearly always inside."""
        return [self.index(array, number, dim, block) for number, dim in enumerate(array.dims)]

    def index(self, array: Array, number: int, dim: str | int, block: Block) -> str:
        extent = EXTENTS.get(dim) if isinstance(dim, str) else dim
        if isinstance(dim, str) and self.chance(0.65 if self.apart else 0.95):
            return dim
        if self.inside > 1:  # an index of an index of an index goes on for ever
            return "0"
        self.inside += 1
        found = self.reckoned(array, number, dim, extent, block)
        self.inside -= 1
        return found

    def reckoned(self, array: Array, number: int, dim: str | int, extent: int | None, block: Block) -> str:
        """An index that is computed."""
        if self.chance(0.03):
            return self.expression(self.pick([int32, int64, uint32]), block, 1)
        if extent:
            return self.pick([str(self.random.randrange(extent)), f"({self.leaf(int32, block)} & 1)", "-1"])
        masked, rest = self.expression(int32, block, 1), self.expression(uint32, block, 1)
        signed = f"abs({self.leaf(int64, block)} % 4)"
        around = f"({dim} + 1) % {array.name}.shape[{number}]"
        return self.pick(["0", "1", f"({masked} & 3)", around, f"({rest} % 5)", signed, "-1"])

    def extent(self, block: Block) -> str:
        """How many elements an array, or a slice of it, has along a dimension."""
        array = self.pick(block.arrays)
        if array.layout != "indexed" and self.inside < 2 and self.chance(0.3):
            self.inside += 1
            first, last, step = (self.leaf(self.pick([int32, int64, uint32, uint64]), block) for _ in range(3))
            self.inside -= 1
            return f"len({array.name}[{first}:{last}:{self.pick(['', '-1', f'({step} | 1)'])}])"
        return self.pick([f"len({array.name})", f"{array.name}.shape[{self.random.randrange(len(array.dims))}]"])

    def view(self, block: Block, name: str) -> str:
        """Give a variable an array: another, or a view or slice of it, where it is written of the thread's own."""
        array = self.pick(block.arrays)
        taken = self.random.randrange(len(array.dims))
        sliced = array.layout != "indexed" and self.chance(0.5)
        dims, layout = array.dims[taken:], "strided" if sliced else array.layout
        keys = (self.mine(array) if array.written else self.indices(array, block))[:taken]
        keys += [self.slice(array, dim) for dim in dims] if sliced else []
        made = Array(name, array.kind, dims, layout, array.written)
        fields = [one for one in alike(made, block.arrays) if "." in one.name]
        others = [one for one in block.arrays if one.name[0] == "v" and replace(made, name=one.name) == one]
        if (fields or others) and self.chance(0.7):
            name = self.pick(fields + others).name
        else:
            block.arrays.append(made)
        return f"{name} = {array.name}" + (f"[{', '.join(keys)}]" if keys else "")
