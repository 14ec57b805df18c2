"""The types that one random program is about: a handful, so that programs are cheap and all types meet."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

from sim_node.compiler.frontend.operand import SPELLED
from sim_node.dtypes import (
    COMPOSITES,
    SCALARS,
    ArrayType,
    Composite,
    Matrix,
    Quaternion,
    Scalar,
    Struct,
    Transform,
    Vector,
    bool_,
    float16,
    float32,
    float64,
    int32,
)

Type = Scalar | Composite | Struct

NUMBERS = tuple(scalar for scalar in SCALARS if scalar is not bool_)
FLOATS = (float16, float32, float64)
# Coordinates of the thread, and how many there are of each behind the first; arrays have as many elements there.
COORDINATES = "ijkl"
EXTENTS = {"j": 3, "k": 2, "l": 4}
LAYOUTS = ["contiguous"] * 4 + ["strided", "strided", "indexed"]


def extents(rank: int, grid: tuple[int, ...]) -> tuple[int, ...]:
    """The extents of an array of a launch: an element a thread, or several."""
    first = grid if rank >= len(grid) else (math.prod(grid),)
    return (*first, *[*EXTENTS.values()][len(first) - 1 :])[:rank]


def spelled(kind: Any, plain: bool = False) -> str:
    """Write a type as in a kernel; an array's may lie in strides, which no word says."""
    short = {int32: "int", float32: "float", bool_: "bool"}
    if isinstance(kind, ArrayType):
        word = "indexedarray" if kind.layout == "indexed" else "array"
        return f"sn.{word}(dtype={spelled(kind.dtype)}{f', ndim={kind.ndim}' * (kind.ndim > 1)})"
    if isinstance(kind, Scalar):
        return short[kind] if plain and kind in short else SPELLED[kind.name]
    return f"sn.{kind.name}" if kind.name in COMPOSITES else kind.name


def fields(struct: Struct) -> list[tuple[str, Type]]:
    """The fields of a struct that are no arrays."""
    return [(name, kind) for name, kind in struct.fields if isinstance(kind, (Scalar, Composite, Struct))]


class Palette:
    """Types, each with an array to read ``x0 x1 …`` and one to write ``y0 y1 …`` of one to four dimensions.

    Some structs hold arrays, ``r0 r1 …`` to read and ``w0 w1 …`` to write; of these structs there are arrays to read.
    ``arrays`` and ``values``, which are structs, are the parameters by name, ``params`` is their text;
    ``head`` has the lines that say how arrays lie and what is no name of the package's; ``coordinates`` are the
    thread's.
    """

    def __init__(self, random: random.Random) -> None:
        self.random = random
        self.scalars: list[Scalar] = [bool_, int32, float32, *random.sample(NUMBERS, 2)]
        self.numbers = [scalar for scalar in dict.fromkeys(self.scalars) if scalar is not bool_]
        self.composites: list[Composite] = [*dict.fromkeys(self._composite() for _ in range(random.choice([2, 3, 4])))]
        self.structs: list[Struct] = []
        for number in range(random.choice([0, 1, 1, 2])):
            options: list[Type] = [*self.scalars, *self.composites, *self.structs]
            parts = tuple((name, random.choice(options)) for name in "abcd"[: random.randrange(1, 5)])
            self.structs.append(Struct(f"S{number}", parts))
        plain: tuple[Type, ...] = tuple(dict.fromkeys([*self.scalars, *self.composites, *self.structs]))
        for number in range(random.choice([0, 1, 1, 2])):
            self.structs.append(self._holder(f"H{number}", plain))
        self.types: tuple[Type, ...] = tuple(dict.fromkeys([*plain, *self.structs]))
        self.coordinates = COORDINATES[: random.choice([1, 1, 1, 2, 3, 4])]
        self.arrays = {f"x{at}": self._array(kind) for at, kind in enumerate(self.types)}
        self.arrays |= {f"y{at}": self._array(kind) for at, kind in enumerate(plain)}
        self.values = {f"p{at}": kind for at, kind in enumerate(self.structs) if kind not in plain or self.chance(0.6)}
        told: dict[str, Any] = {**self.arrays, **self.values}
        for name, kind in self.arrays.items():
            if self.chance(0.5):  # then only the launch says how it lies
                told[name] = replace(kind, layout=LAYOUTS[0])
        self.params = ", ".join(f"{name}: {spelled(kind)}" for name, kind in told.items())

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _array(self, kind: Type) -> ArrayType:
        return ArrayType(kind, self.random.choice([1, 1, 1, 2, 3, 4]), self.random.choice(LAYOUTS))

    def _holder(self, name: str, plain: tuple[Type, ...]) -> Struct:
        """A struct that holds arrays, and maybe another."""
        pick = self.random.choice
        arrays = [(f"r{at}", self._array(pick(plain))) for at in range(self.random.randrange(1, 4))]
        arrays += [(f"w{at}", self._array(pick(plain))) for at in range(pick([0, 0, 1, 2]))]
        inner = [("h", self.structs[-1])] if self.structs and self.chance(0.4) else []
        parts = [("a", pick(plain)), *arrays, *inner]
        self.random.shuffle(parts)
        return Struct(name, tuple(parts))

    @property
    def thread(self) -> list[str]:
        """What funcs are told of the thread: its coordinates, and its number where that is not the only one."""
        return [*self.coordinates, *["n"] * (len(self.coordinates) > 1)]

    def dims(self, rank: int) -> tuple[str | int, ...]:
        """For each dimension of an array the thread's coordinate, or how many elements there are."""
        own = self.coordinates if rank >= len(self.coordinates) else "n"
        return (*own, *[*EXTENTS.values()][len(own) - 1 :])[:rank]

    def _composite(self) -> Composite:
        scalar, number = self.random.choice(NUMBERS), self.random.choice(FLOATS)
        sizes = [2, 2, 3, 3, 4, 5, 6]
        options: list[Composite] = [Vector(scalar, self.random.choice(sizes))] * 4
        options += [Matrix(number, self.random.choice(sizes[:5]), self.random.choice(sizes[:5]))]
        options += [Matrix(number, size, size) for size in (2, 3)]
        return self.random.choice([*options, Quaternion(number), Transform(number)])

    @property
    def head(self) -> list[str]:
        """Types of sizes without a name, and the structs."""
        lines = [f"LAYOUTS = { {name: kind.layout for name, kind in self.arrays.items()} }"]
        for kind in self.composites:
            if kind.name not in COMPOSITES:
                size = kind.length if isinstance(kind, Vector) else kind.shape
                word = "vector" if isinstance(kind, Vector) else "matrix"
                lines.append(f"{kind.name} = sn.types.{word}({size}, {spelled(kind.scalar)})")
        for struct in self.structs:
            written = [f"    {name}: {spelled(kind)}" for name, kind in struct.fields]
            lines += ["", "", "@sn.struct", f"class {struct.name}:", *written]
        return lines
