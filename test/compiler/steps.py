"""Writes random programs whose threads go in step, as they do in the lanes of vectors; and the others.

No thread runs a loop longer than another one, nothing is atomic, and nothing is stored before the last index.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from arrays import Array
from expressions import Block
from palette import Type
from programs import Programs

from sim_node.dtypes import int32

COUNTS = ["3", "2, 5", "s1 & 3", "0, 6, 2", "4, 0, -1", "s1 & 1, 4"]


def program(seed: int) -> str:
    """Write the program of a seed: of every other seed one whose threads go in step."""
    return (Steps if seed % 2 else Programs)(seed).text()


class Steps(Programs):
    """One such program in the making."""

    real = tuple(symbol for symbol in Programs.real if symbol not in ("//", "%"))  # these are loops

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
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
        if not nested:
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

    def jump(self, block: Block) -> None:
        self.declare(block)

    def element(self, block: Block) -> None:
        (super().element if self.chance(0.02) else self.declare)(block)

    def leave(self, block: Block) -> None:
        (self.declare if block.loops else super().leave)(block)

    def target(self, block: Block) -> Any:
        if not self.free(block):
            self.declare(block)
        while True:
            self.stored = False
            place = super().target(block)
            if not self.stored or self.chance(0.02):
                return place

    def own(self, block: Block, kinds: Sequence[Type]) -> tuple[str, Type]:
        self.stored = True
        return super().own(block, kinds)

    def loop(self, block: Block, nested: int) -> None:
        if nested and self.chance(0.8):
            self.declare(block)
            return
        name = next(self.names)
        self.emit(block, f"for {name} in range({self.pick(COUNTS)}):")
        inside = block.inner(True)
        inside.variables[name] = int32
        self.suite(inside, nested)

    def index(self, array: Array, number: int, dim: str | int, block: Block) -> str:
        if self.chance(0.6):
            return dim if isinstance(dim, str) else "0"
        return super().index(array, number, dim, block)
