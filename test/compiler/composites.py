"""Random expressions of types of several numbers: vectors, matrices, quaternions, transforms and structs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from arrays import alike, held
from palette import fields, spelled

from sim_node.dtypes import Composite, Matrix, Quaternion, Scalar, Struct, Transform, Vector, float16, int32

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from expressions import Block
    from palette import Palette, Type

T = TypeVar("T")

_AXES = "xyzw"


class Composites:
    """What ``Expressions`` writes of composite types; that class has the rest."""

    if TYPE_CHECKING:
        palette: Palette
        random: Random

        def pick(self, options: Iterable[T]) -> T: ...
        def chance(self, probability: float) -> bool: ...
        def expression(self, kind: Type, block: Block, depth: int | None = None) -> str: ...
        def weak(self, kind: Scalar, block: Block, depth: int = 2) -> str: ...
        def leaf(self, kind: Type, block: Block) -> str: ...
        def ternary(self, kind: Type, block: Block, depth: int) -> str: ...
        def call(self, kind: Type | tuple[Type, ...] | None, block: Block, depth: int) -> str: ...

    def of_palette(self, kind: type[Composite], scalar: Scalar) -> list[Any]:
        """The composite types of one kind and scalar that the program has."""
        return [one for one in self.palette.composites if isinstance(one, kind) and one.scalar == scalar]

    def axis(self, kind: Composite, block: Block) -> str:
        """Say which number of a value."""
        if isinstance(kind, (Vector, Quaternion)) and kind.length <= 4 and self.chance(0.5):
            return f".{self.pick(_AXES[: kind.length])}"
        shape = kind.shape if len(kind.shape) > 1 else (kind.length,)
        numbers = [
            str(self.random.randrange(size)) if self.chance(0.6) else f"({self.leaf(int32, block)} & 1)"
            for size in shape
        ]
        return f"[{', '.join(numbers)}]"

    def number_of(self, kind: Scalar, block: Block, depth: int) -> str:
        """A number of this type that is part of something, or a measure of it."""
        composites = [one for one in self.palette.composites if one.scalar == kind]
        fields = self.fields(kind, block, depth)
        if fields and (not composites or self.chance(0.4)):
            return self.pick(fields)
        if not composites:
            return self.leaf(kind, block)
        of = self.pick(composites)
        one, two = self.expression(of, block, depth), self.expression(of, block, depth)
        if isinstance(of, Vector) and self.chance(0.1):
            return f"sn.{self.pick(['min', 'max'])}({one})"
        if isinstance(of, Vector) and kind.is_float and self.chance(0.3):
            return self.pick([f"sn.dot({one}, {two})", f"sn.length({one})", f"sn.length_sq({two})"])
        if isinstance(of, Matrix) and of.rows == of.cols and of.rows < 4 and self.chance(0.2):
            return f"sn.{self.pick(['trace', 'determinant'])}({one})"
        return f"{one}{self.axis(of, block)}"

    def fields(self, kind: Type, block: Block, depth: int) -> list[str]:
        """Fields of this type of structs."""
        return [
            f"{self.expression(struct, block, min(depth, 1))}.{name}"
            for struct in self.palette.structs for name, its in fields(struct) if its == kind and self.chance(0.5)
        ]  # fmt: skip

    def composite(self, kind: Composite, block: Block, depth: int) -> str:
        """A value of several numbers."""
        scalar = kind.scalar
        one, two = self.expression(kind, block, depth), self.expression(kind, block, depth)
        factor = self.weak(scalar, block) if self.chance(0.4) else self.expression(scalar, block, depth)
        options = [f"({one} + {two})", f"({one} - {two})", f"({factor} * {one})", f"({one} * {factor})", f"(-{one})",
                   one, self.ternary(kind, block, depth), *self.fields(kind, block, depth)]  # fmt: skip
        if kind.length <= 9 and self.chance(0.5):
            parts = [self.weak(scalar, block, 0) if self.chance(0.3) else self.expression(scalar, block, depth)
                     for _ in range(kind.length)]  # fmt: skip
            options += [f"{spelled(kind)}({', '.join(parts)})"] * 2
        others = [other for other in self.palette.composites if other.shape == kind.shape and other != kind]
        if others:
            options.append(f"{spelled(kind)}({self.expression(self.pick(others), block, depth)})")
        if kind.is_float:
            options.append(f"({one} / {factor})")
        options += self._own(kind, one, two, block, depth)
        called = self.call(kind, block, depth)
        return self.pick([*options, *([called] if called else [])])

    def _own(self, kind: Composite, one: str, two: str, block: Block, depth: int) -> list[str]:
        """What only values of this kind do."""
        if isinstance(kind, Vector):
            return self._vector(kind, one, two, block, depth)
        exact = kind.scalar is not float16
        if isinstance(kind, Matrix):
            options = [f"({one} * {two})", f"({one} @ {two})"] if kind.rows == kind.cols else []
            options += [f"sn.transpose({self.expression(Matrix(kind.scalar, kind.cols, kind.rows), block, depth)})"
                        ] if kind.rows == kind.cols else []  # fmt: skip
            return options + ([f"sn.inverse({one})"] if exact and kind.rows == kind.cols < 4 else [])
        if isinstance(kind, Quaternion):
            inside = [f"{self.expression(t, block, depth)}.q" for t in self.of_palette(Transform, kind.scalar)]
            return [f"({one} * {two})", f"sn.quat_inverse({one})", *inside]
        place, turn = Vector(kind.scalar, 3), Quaternion(kind.scalar)
        parts = f"{self.expression(place, block, depth)}, {self.expression(turn, block, depth)}"
        return [f"({one} * {two})", f"{spelled(kind)}({parts})"]

    def _vector(self, kind: Vector, one: str, two: str, block: Block, depth: int) -> list[str]:
        options = [f"sn.{self.pick(['min', 'max', 'cw_mul'])}({one}, {two})"]
        if kind.is_float:
            options.append(f"sn.normalize({one})")
        if kind.is_float and kind.length == 3:
            options.append(f"sn.cross({one}, {two})")
            options += [f"{self.expression(t, block, depth)}.p" for t in self.of_palette(Transform, kind.scalar)]
            options += [f"sn.quat_rotate({self.expression(q, block, depth)}, {one})"
                        for q in self.of_palette(Quaternion, kind.scalar)]  # fmt: skip
        for matrix in self.of_palette(Matrix, kind.scalar):
            made = self.expression(matrix, block, depth)
            if matrix.rows == matrix.cols == kind.length:
                options += [f"({made} * {one})", f"({made} @ {one})", f"({one} * {made})"]
            if matrix.cols == kind.length:
                options.append(f"{made}[{self.random.randrange(matrix.rows)}]")
        return options

    def struct(self, kind: Struct, block: Block, depth: int) -> str:
        """An instance of a struct."""
        if self.chance(0.4):
            return self.leaf(kind, block)
        if self.chance(0.2):
            return self.ternary(kind, block, depth)
        called = self.call(kind, block, depth)
        if called and self.chance(0.5):
            return called
        given = [(name, self.expression(its, block, depth)) for name, its in fields(kind)]
        for place in held(self.palette, "", kind):
            if place.name.count(".") > 1:
                continue
            fitting = alike(place, block.arrays)
            if not fitting:
                return self.leaf(kind, block)
            given.append((place.name[1:], self.pick(fitting).name))
        order = [name for name, _ in kind.fields]
        given.sort(key=lambda one: order.index(one[0]))
        by_name = self.random.randrange(len(given) + 1)
        words = [text for _, text in given[:by_name]]
        words += [f"{name}={text}" for name, text in given[by_name:] if self.chance(0.8)]
        return f"{spelled(kind)}({', '.join(words)})"
