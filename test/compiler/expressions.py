"""Writes random expressions of the kernel language, each of the type that is asked for.

They read arrays ``x0 x1 …`` at any index and ``y0 y1 …`` at the thread's own, one of each type of the program's
palette, views of them, scalars ``s1`` and ``s5``, variables, constants and funcs.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from arrays import Array, Arrays, parameters
from composites import Composites
from palette import FLOATS, NUMBERS, Palette, Type, spelled

from sim_node.compiler.frontend.operand import Literal, unfit
from sim_node.dtypes import SCALARS, Composite, Kind, Scalar, Struct, bool_, float32, float64, int32, int64
from sim_node.lang.library import MATH

T = TypeVar("T")

INTEGERS = ["0", "1", "2", "3", "5", "7", "10", "100", "-1", "-3", "255", "65_536", "0x7FFF_FFFF", "2_147_483_648",
            "4_294_967_295", "-2_147_483_648", "9_007_199_254_740_993", "9_223_372_036_854_775_807",
            "18_446_744_073_709_551_615", "-9_223_372_036_854_775_808"]  # fmt: skip
DECIMALS = ["0.0", "1.0", "0.5", "2.0", "-1.5", "0.1", "3.141592653589793", "1.0000000500000001", "1e-3",
            "16_777_217.0", "123456789.123456789", "1e30", "-2.5", "0.30000000000000004", "1e-30", "4.0"]  # fmt: skip
# Expressions that the build evaluates, with the names of the module.
STATIC = ["sn.static(SIZE * 2 + 1)", "sn.static(len(PAIR))", "sn.static(GAIN / 4)", "Mode.FAST", "Mode.SLOW.value"]
CONSTANTS = {"GAIN": 2.5, "THIRD": 1 / 3, "SIZE": 12, "ON": True, "OFF": False, "PAIR": (3, 0.7),
             "WIDE": np.int64(3_000_000_000), "TINY": np.float64(0.1), "NEAR": np.float32(0.1)}  # fmt: skip
_VALUES = dict(zip(STATIC, [25, 2, 0.625, 3, 5])) | {
    text: eval(text, {}, CONSTANTS) for text in [*INTEGERS, *DECIMALS, *CONSTANTS, "PAIR[0]", "PAIR[1]"]
}
_OPERATE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
WHOLE = ["+", "-", "*", "//", "%", "&", "|", "^"]
REAL = (*("+", "-", "*", "/") * 3, "//", "%")  # the last two are loops, and most of the time to compile
_TRUTH = ["&", "|", "^", "==", "!="]


@dataclass
class Func:
    """A func of the program: what it takes, gives, and how it is called by name."""

    name: str
    params: list[tuple[str, Type]]
    result: Type | tuple[Type, ...] | None
    defaults: dict[str, str] = field(default_factory=dict)
    typed: bool = False  # whether the arrays are annotated
    annotated: bool = False  # every parameter, so that there may be overloads


@dataclass
class Block:
    """Where statements go: the variables and arrays seen from here, the loops around, and what ends."""

    variables: dict[str, Type]
    arrays: list[Array]
    indent: int = 1
    loops: int = 0
    frozen: frozenset[str] = frozenset()

    def inner(self, loop: bool = False, frozen: str = "") -> Block:
        """Make the block of a statement inside this one."""
        names = self.frozen | {frozen}
        return Block(dict(self.variables), [*self.arrays], self.indent + 1, self.loops + loop, names)


class Expressions(Arrays, Composites):
    """The expressions of one program in the making."""

    real: Sequence[str] = REAL

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.palette = Palette(self.random)
        self.types = self.palette.types
        self.arrays = parameters(self.palette)
        self.funcs: list[Func] = []
        self.long = self.chance(0.4)  # whether it calls what is most of the time to compile
        self.inside = 0  # indices that are being written, one in the other
        self.apart = self.chance(0.6)  # whether it does what keeps threads from the lanes of vectors

    # choices

    def pick(self, options: Iterable[T]) -> T:
        return self.random.choice(list(options))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, *options: tuple[float, Callable[[], T]]) -> T:
        weights = [weight for weight, _ in options]
        return self.random.choices([make for _, make in options], weights)[0]()

    # numbers without a type: the text, and what it may be worth

    def weak(self, kind: Scalar, block: Block, depth: int = 2) -> str:
        """A number without a type that fits this one, whatever its conditions say."""
        for _ in range(20):
            try:
                text, values = self._weak(kind, block, depth)
            except (ArithmeticError, TypeError):  # it has no value in Python either
                continue
            if all(type(value) in (int, float) and not unfit(Literal(value), kind) for value in values):
                return text
        return "1"

    def _weak(self, kind: Scalar, block: Block, depth: int) -> tuple[str, list[Any]]:
        if depth == 0 or self.chance(0.55):
            options = DECIMALS if kind.is_float and self.chance(0.8) else INTEGERS
            constants = ["SIZE", "PAIR[0]"] if kind.is_integer else ["GAIN", "THIRD", "PAIR[1]", "SIZE"]
            text = self.pick([*constants, *STATIC]) if self.chance(0.1) else self.pick(options)
            return text, [_VALUES[text]]
        left, ones = self._weak(kind, block, depth - 1)
        right, others = self._weak(kind, block, depth - 1)
        if self.chance(0.4):
            return f"({left} if {self.condition(block, 1)} else {right})", ones + others
        if self.chance(0.2):
            word = self.pick(["min", "max", "sn.min", "sn.max"])
            return f"{word}({left}, {right})", ones + others
        symbol = self.pick(self.real if kind.is_float else WHOLE)
        return f"({left} {symbol} {right})", [_OPERATE[symbol](a, b) for a in ones for b in others]

    # expressions

    def expression(self, kind: Type, block: Block, depth: int | None = None) -> str:
        """An expression of exactly this type, nested so deeply."""
        depth = self.pick([0, 1, 1, 1, 1, 2]) if depth is None else depth
        if depth <= 0:
            return self.leaf(kind, block)
        if isinstance(kind, Composite):
            return self.composite(kind, block, depth - 1)
        if isinstance(kind, Struct):
            return self.struct(kind, block, depth - 1)
        if kind is bool_:
            return self.condition(block, depth)
        return self.one_of(
            (2, lambda: self.leaf(kind, block)),
            (5, lambda: self.arithmetic(kind, block, depth - 1)),
            (1.5, lambda: self.function(kind, block, depth - 1)),
            (2.5 if kind.is_float and self.long else 0, lambda: self.mathematics(kind, block, depth - 1)),
            (1, lambda: self.conversion(kind, block, depth - 1)),
            (1, lambda: self.ternary(kind, block, depth - 1)),
            (0.7, lambda: self.number_of(kind, block, depth - 1)),
            (1, lambda: self.call(kind, block, depth - 1) or self.leaf(kind, block)),
        )

    def leaf(self, kind: Type, block: Block) -> str:
        known = [name for name, its in block.variables.items() if its == kind]
        if known and self.chance(0.6):
            return self.pick(known)
        if kind in (int64, float64, float32) and self.chance(0.05):
            return {int64: "WIDE", float64: "TINY", float32: "NEAR"}[kind]
        if kind == int32 and self.chance(0.1):
            alone = ["sn.tid()"] * (len(self.palette.coordinates) == 1)
            return self.pick([*self.palette.thread, *alone, self.extent(block)])
        if any(one.kind == kind for one in block.arrays) and self.chance(0.45):
            return self.read(kind, block)
        if isinstance(kind, Struct):
            given = [name for name, its in self.palette.values.items() if its == kind]
            return self.pick(given) if given and self.chance(0.9) else f"{spelled(kind)}()"
        if isinstance(kind, Composite):
            return f"{spelled(kind)}({self.pick(['', self.weak(kind.scalar, block, 0)])})"
        if kind is bool_:
            return f"bool({self.pick(['s1', 's5', 'True', '0'])})"
        return f"{spelled(kind, self.chance(0.5))}({self.weak(kind, block, self.pick([0, 0, 0, 1]))})"

    def given(self) -> list[str]:
        """What every func is called with."""
        return [*self.palette.thread, *self.palette.arrays, *self.palette.values, "s1", "s5"]

    def pair(self, kind: Scalar, block: Block, depth: int) -> tuple[str, str]:
        """Two operands, at most one without a type."""
        left, right = self.expression(kind, block, depth), self.expression(kind, block, depth)
        if self.chance(0.3):
            right = self.weak(kind, block)
        elif self.chance(0.15):
            left = self.weak(kind, block)
        return left, right

    def arithmetic(self, kind: Scalar, block: Block, depth: int) -> str:
        if self.chance(0.12):
            return f"({self.pick('-+~' if kind.is_integer else '-+')}{self.expression(kind, block, depth)})"
        left, right = self.pair(kind, block, depth)
        symbol = self.pick([*WHOLE, "<<", ">>"] if kind.is_integer else self.real)
        if symbol in ("<<", ">>"):
            count = str(self.random.randrange(kind.bits)) if self.chance(0.5) else self.expression(kind, block, depth)
            return f"({self.expression(kind, block, depth)} {symbol} {count})"
        if kind.is_integer and symbol in ("//", "%"):
            left = self.expression(kind, block, depth)
            if kind in self.types and self.chance(0.02):  # no constant: that is refused
                return f"({left} {symbol} {self.read(kind, block)})"
            right = self.pick([f"({self.expression(kind, block, depth)} | 1)", self.pick(["2", "3", "7", "10"])])
            if symbol == "//" and kind.kind is Kind.INT and right[-1] == ")":  # no quotient of the least number by -1
                left = f"({left} >> 1)"
        return f"({left} {symbol} {right})"

    def function(self, kind: Scalar, block: Block, depth: int) -> str:
        left, right = self.pair(kind, block, depth)
        one, two = self.expression(kind, block, depth), self.expression(kind, block, depth)
        options = [f"abs({one})", f"sn.abs({one})", f"min({left}, {right})", f"max({left}, {right})",
                   f"sn.min({left}, {right})", f"sn.max({left}, {right}, {one})", f"max({one}, {left}, {right})",
                   f"sn.clamp({one}, {left}, {right})", f"type({one})({self.weak(kind, block)})"]  # fmt: skip
        if kind.kind is not Kind.UINT:
            options.append(f"sn.sign({one})")
        if kind.is_float:
            rounding = [f"sn.{word}({one})" for word in ("sqrt", "floor", "ceil", "trunc", "rint")]
            options += [*rounding, self.pick(rounding), f"sn.lerp({one}, {two}, {self.weak(kind, block)})"]
            options += [f"sn.copysign({one}, {two})", f"sn.{self.pick(['frac', 'round', 'degrees'])}({one})"]
        if self.chance(0.1):
            options = [f"sn.where({self.condition(block, depth)}, {one}, {two})"]
        return self.pick(options)

    def mathematics(self, kind: Scalar, block: Block, depth: int) -> str:
        """A function of the math library, of one float of any width or two, at most one without a type."""
        of = self.pick([kind, kind, *FLOATS])
        one, (left, right) = self.expression(of, block, depth), self.pair(of, block, depth)
        word = self.pick([*MATH, "erfc", "erfinv", "erfcinv"])
        two = [f"sn.{word}({left}, {right})" for word in ("atan2", "hypot", "pow")]
        made = self.pick([*[f"sn.{word}({one})"] * 9, *two, f"({left} ** {right})"])
        return made if of == kind else f"{spelled(kind)}({made})"

    def conversion(self, kind: Scalar, block: Block, depth: int) -> str:
        source = self.pick(self.palette.scalars if self.chance(0.8) else SCALARS)
        value = self.expression(source, block, depth)
        if source.bits == kind.bits and self.chance(0.4):
            return f"sn.cast({value}, {spelled(kind)})"
        return f"{spelled(kind, self.chance(0.5))}({value})"

    def ternary(self, kind: Type, block: Block, depth: int) -> str:
        one, two = self.expression(kind, block, depth), self.expression(kind, block, depth)
        return f"({one} if {self.condition(block, depth)} else {two})"

    def condition(self, block: Block, depth: int) -> str:
        if depth <= 0:
            return self.leaf(bool_, block)

        def two(symbols: list[str]) -> str:
            left, right = (self.condition(block, depth - 1) for _ in "ab")
            return f"({left} {self.pick(symbols)} {right})"

        return self.one_of(
            (5, lambda: self.comparison(block, depth - 1)),
            (2, lambda: two(["and", "or"])),
            (1, lambda: f"(not {self.condition(block, depth - 1)})"),
            (1, lambda: two(_TRUTH)),
            (1, lambda: self.leaf(bool_, block)),
            (0.3, lambda: self.pick(["ON", "OFF", "True", "False"])),
            (0.5, lambda: f"bool({self.expression(self.pick(self.palette.numbers), block, depth - 1)})"),
        )

    def comparison(self, block: Block, depth: int) -> str:
        symbols = ["==", "!=", "<", "<=", ">", ">="]
        if self.chance(0.1):
            kind = self.pick(self.palette.composites)
            return f"({self.expression(kind, block, 1)} {self.pick(symbols[:2])} {self.expression(kind, block, 1)})"
        number = self.pick(self.palette.numbers if self.chance(0.9) else NUMBERS)
        left, right = self.pair(number, block, depth)
        if number.is_float and self.chance(0.1):
            return f"sn.{self.pick(['isnan', 'isinf', 'isfinite'])}({self.expression(number, block, depth)})"
        text = f"{left} {self.pick(symbols)} {right}"
        while self.chance(0.25):
            text += f" {self.pick(symbols)} {self.expression(number, block, depth)}"
        return f"({text})"

    def call(self, kind: Type | tuple[Type, ...] | None, block: Block, depth: int) -> str:
        fitting = [func for func in self.funcs if func.result == kind and not block.loops > 1]
        if not fitting:
            return ""
        func = self.pick(fitting)
        given = [(name, self.expression(its, block, depth)) for name, its in func.params]
        kept = [(name, text) for name, text in given if name not in func.defaults or self.chance(0.5)]
        by_name = self.random.randrange(len(kept) + 1) if len(kept) == len(given) else 0
        words = [text for _, text in kept[:by_name]] + [f"{name}={text}" for name, text in reversed(kept[by_name:])]
        return f"{func.name}({', '.join([*self.given(), *words])})"
