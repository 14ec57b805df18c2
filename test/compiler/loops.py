"""The loops of a random program, which end: over numbers, over what is known at build, and on a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from palette import spelled

from sim_node.dtypes import Scalar, Vector, int32, int64, uint32

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from random import Random

    from expressions import Block
    from palette import Type

T = TypeVar("T")

COUNTS = (int32, int64, uint32)


class Loops:
    """What ``Programs`` writes of loops; that class has the rest."""

    if TYPE_CHECKING:
        names: Iterator[str]
        random: Random
        types: tuple[Type, ...]

        def pick(self, options: Iterable[T]) -> T: ...
        def chance(self, probability: float) -> bool: ...
        def condition(self, block: Block, depth: int) -> str: ...
        def emit(self, block: Block, line: str) -> None: ...
        def expression(self, kind: Type, block: Block, depth: int | None = None) -> str: ...
        def free_of(self, block: Block, kind: Type) -> list[tuple[str, Type]]: ...
        def suite(self, block: Block, nested: int) -> None: ...
        def value(self, kind: Type, block: Block) -> str: ...

    def jump(self, block: Block) -> None:
        self.emit(block, f"if {self.condition(block, 2)}:")
        self.emit(block.inner(), self.pick(["break", "continue"]))

    def each(self, block: Block, nested: int) -> None:
        """A loop over a tuple or the components of a vector, or one whose number is an index into them."""
        name, kind = next(self.names), self.pick(self.types)
        inside = block.inner(True)
        if isinstance(kind, Vector) and self.chance(0.4):
            over, inside.variables[name] = self.expression(kind, block, 1), kind.scalar
        elif isinstance(kind, Vector) and (held := [known for known, its in self.free_of(block, kind)]):
            over, inside.variables[name] = f"range({kind.length})", int32
            self.emit(block, f"for {name} in {over}:")
            self.emit(inside, f"{self.pick(held)}[{name}] = {self.value(kind.scalar, block)}")
            self.suite(inside, nested)
            return
        else:
            parts = [self.expression(kind, block, 1) for _ in range(self.random.randrange(1, 4))]
            over, inside.variables[name] = f"({', '.join(parts)},)", kind
        self.emit(block, f"for {name} in {over}:")
        self.suite(inside, nested)
        self.otherwise(block, nested)

    def otherwise(self, block: Block, nested: int) -> None:
        """What runs after a loop that was not left by break."""
        if self.chance(0.15):
            self.emit(block, "else:")
            self.suite(block.inner(), nested)

    def loop(self, block: Block, nested: int) -> None:
        name, kind = next(self.names), self.pick(COUNTS)
        if self.chance(0.4):
            self.repeat(block, nested, name, kind)
            return
        self.emit(block, f"for {name} in range({self.counted(kind, block)}):")
        inside = block.inner(True)
        inside.variables[name] = kind
        self.suite(inside, nested)
        self.otherwise(block, nested)

    def repeat(self, block: Block, nested: int, name: str, kind: Scalar) -> None:
        """A loop with a condition; it counts, so it ends."""
        self.emit(block, f"{name} = {spelled(kind)}(0)")
        block.variables[name] = kind
        ends = f"{name} < {self.random.randrange(1, 6)}"
        inside = block.inner(True, name)
        infinite = self.chance(0.3)
        self.emit(block, "while True:" if infinite else f"while {ends} and {self.asked(block)}:")
        self.emit(inside, f"{name} += 1")
        if infinite:
            self.emit(inside, f"if not {ends}:")
            self.emit(inside.inner(), "break")
        self.suite(inside, nested)
        self.otherwise(block, nested)
        block.frozen |= {name}

    def asked(self, block: Block) -> str:
        """What a loop asks before each round."""
        return self.condition(block, 2)

    def counted(self, kind: Scalar, block: Block) -> str:
        """What a loop counts through."""
        few = f"({self.expression(kind, block, 2)} & 3)"
        start = self.pick([self.expression(kind, block, 1) + " & 7", spelled(kind) + "(2)"])
        down = kind is not uint32
        step = self.pick(["2", "3", f"(({few}) + 1)", *(["-1", "-2", f"-(({few}) + 1)"] if down else [])])
        return self.pick([few, f"{start}, {few}", f"{start}, {spelled(kind)}(9), {step}", f"{few}, {start}, {step}"])
