"""Writes random programs whose threads go in step, as they do in the lanes of vectors; and the others.

No thread runs a loop longer than another one, nothing is atomic or printed, and no check that a launch cannot tell
comes after something was stored: either all is stored at the end, or indices are coordinates and constants.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from arrays import Array, held
from expressions import Block
from palette import Type, spelled
from programs import Programs

from sim_node.dtypes import Scalar, uint32

# What is the same for all threads: how many rounds, by the type that counts them, and conditions.
ROUNDS = ["{}(3)", "{}(2), 5", "{}(s1 & 3)", "{}(0), 6, 2", "{}(s1 & 1), 4", "{}(len(x0)) & 3"]
DOWN = ["{}(4), 0, -1", "{}(s1 & 3), -2, -2"]
SAME = ["s1 > 2", "s5 < 1.0", "len(x0) > 9", "ON", "not s1 == 3"]


def program(seed: int) -> str:
    """Write the program of a seed: of every other seed one whose threads go in step."""
    return (Steps if seed % 2 else Programs)(seed).text()


class Steps(Programs):
    """One such program in the making."""

    real = tuple(symbol for symbol in Programs.real if symbol not in ("//", "%"))  # these are loops
    loops = ()

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        # Whether it stores at the end only; of arrays that lie in memory a launch knows nothing.
        self.late = self.chance(0.3) or any(held(self.palette, "", one.kind) for one in self.arrays)
        self.stores: list[str] | None = None  # from the end of the body on
        self.stored = False
        self.held = (f"w{at}" for at in itertools.count())

    def text(self) -> str:
        """Store at the end what was computed before."""
        text = super().text()
        return text + "".join(f"    {store}\n" for store in self.stores or ())

    def body(self, block: Block, nested: int) -> None:
        """Write statements; those of the kernel are its last block."""
        super().body(block, nested)
        if not nested and self.late:
            self.stores = []

    def emit(self, block: Block, line: str) -> None:
        """Hold back what is stored."""
        if self.stores is not None:
            place, value = line.split(" = ", 1)
            held = next(self.held)
            self.stores.append(f"{place} = {held}")
            line = f"{held} = {value}"
        super().emit(block, line)

    def atomic(self, block: Block) -> None:
        self.declare(block)

    def show(self, block: Block) -> None:
        self.declare(block)

    def jump(self, block: Block) -> None:
        """Leave a loop, or a round of it, which all threads do that come to a block of loops only."""
        if block.indent > block.loops + 1:
            self.declare(block)
            return
        self.emit(block, f"if {self.pick(SAME)}:")
        self.emit(block.inner(), self.pick(["break", "continue"]))

    def element(self, block: Block) -> None:
        (self.declare if self.late and self.chance(0.996) else super().element)(block)

    def leave(self, block: Block) -> None:
        """End the thread, or a func; behind that no loop is for all."""
        (self.declare if self.apart else super().leave)(block)

    def target(self, block: Block) -> Any:
        if not self.free(block):
            self.declare(block)
        while True:
            self.stored = False
            place = super().target(block)
            if not (self.late and self.stored) or self.chance(0.004):
                return place

    def own(self, block: Block, kinds: Sequence[Type]) -> tuple[str, Type]:
        self.stored = True
        return super().own(block, kinds)

    def loop(self, block: Block, nested: int) -> None:
        """A loop that all threads come to."""
        if nested == block.loops or self.chance(0.02):
            super().loop(block, nested)
        else:
            self.declare(block)

    def asked(self, block: Block) -> str:
        return self.pick(SAME)

    def counted(self, kind: Scalar, block: Block) -> str:
        return self.pick(ROUNDS if kind is uint32 else ROUNDS + DOWN).format(spelled(kind))

    def slice(self, array: Array, dim: str | int) -> str:
        return super().slice(array, dim) if self.late or array.written else self.pick([":", ":", "::-1"])

    def index(self, array: Array, number: int, dim: str | int, block: Block) -> str:
        if not self.late or self.chance(0.6):
            return dim if isinstance(dim, str) else self.pick(["0", "-1", str(dim - 1)])
        return super().index(array, number, dim, block)
