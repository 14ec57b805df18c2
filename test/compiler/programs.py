"""Writes random programs: well typed and ending by construction, whatever the inputs are.

A program is the source text of a module: constants, funcs, how arrays lie, and one kernel ``k`` over an array to read
and an array to write of each type of its palette, and two scalars. Threads write their own element only, for threads
have no order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import reduce

from arrays import held
from expressions import WHOLE, Block, Expressions, Func
from library import LOOPS, STRAIGHT, Row, asks, filled
from loops import Loops
from palette import EXTENTS, NUMBERS, Type, fields, spelled

from sim_node.dtypes import Composite, Scalar, Struct, Vector, bool_, float32, int32, int64, uint32

HEAD = """import enum

import numpy as np

import sim_node as sn

GAIN, THIRD, SIZE, ON, OFF, PAIR = 2.5, 1 / 3, 12, True, False, (3, 0.7)
WIDE, TINY, NEAR = np.int64(3_000_000_000), np.float64(0.1), np.float32(0.1)


class Mode(enum.IntEnum):
    FAST = 3
    SLOW = 5
"""
ATOMIC = (int32, int64, uint32, float32)


def program(seed: int) -> str:
    """Write the program of a seed."""
    return Programs(seed).text()


class Programs(Loops, Expressions):
    """One program in the making."""

    loops: Sequence[Row] = LOOPS * 3

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.names = (f"v{i}" for i in itertools.count())
        self.lines = [*HEAD.splitlines(), *self.palette.head]
        self.left = 0
        self.result: Type | tuple[Type, ...] | None = None
        self.returns = False

    def text(self) -> str:
        for number in range(self.random.randrange(4)):
            self.func(f"f{number}")
            if self.funcs[-1].annotated and self.chance(0.6):
                self.overload(self.funcs[-1])
        marked = '@sn.kernel(fast_math="reproducible")' if self.chance(0.1) else "@sn.kernel"
        self.lines += ["", "", marked, f"def k({self.palette.params}, s1: int, s5: float):"]
        block = self.block()
        own = self.palette.coordinates
        self.emit(block, f"{', '.join(own)} = sn.tid()")
        if len(own) > 1:
            self.emit(block, f"n = {reduce(lambda whole, axis: f'({whole} * {EXTENTS[axis]} + {axis})', own)}")
        self.left, self.returns, self.result = self.random.randrange(*(20, 160) if self.apart else (2, 30)), True, None
        self.body(block, 0)
        for array in self.arrays:
            if array.written and self.chance(0.4):
                self.emit(block, f"{self.at(array, self.mine(array))} = {self.expression(array.kind, block, 1)}")
        return "\n".join(self.lines) + "\n"

    def block(self, params: list[tuple[str, Type]] | None = None) -> Block:
        """What a function begins with: two scalars, arrays, structs, and parameters of its own."""
        block = Block({"s1": int32, "s5": float32}, [*self.arrays], frozen=frozenset(["s1", "s5"]))
        for name, kind in [*self.palette.values.items(), *(params or [])]:
            self.add(block, name, kind)
        return block

    def add(self, block: Block, name: str, kind: Type) -> None:
        """Let a variable be seen from a block, with its parts; its arrays are if they are not yet."""
        block.variables[name] = kind
        block.arrays += [array for array in held(self.palette, name, kind) if array not in block.arrays]
        if isinstance(kind, Struct):
            block.variables |= {f"{name}.{part}": its for part, its in fields(kind)}

    def emit(self, block: Block, line: str) -> None:
        self.lines.append("    " * block.indent + line)

    # funcs

    def func(self, name: str) -> None:
        """Write a func; its result is declared or follows from its returns."""
        params = [(next(self.names), self.pick(self.types)) for _ in range(self.random.randrange(4))]
        pair = self.pick(self.types), self.pick(self.types)
        result = self.pick([None, pair, pair, *self.types, *self.types])
        made = Func(name, params, result)
        words = []
        for at, (param, kind) in enumerate(params):
            if made.defaults or (kind in NUMBERS and self.chance(0.2)):
                number = kind if isinstance(kind, Scalar) and kind in NUMBERS else int32
                params[at] = param, number
                made.defaults[param] = self.weak(number, Block({}, []), 0)
                words.append(f"{param}: {spelled(number, True)} = {made.defaults[param]}")
            else:
                words.append(f"{param}: {spelled(kind, self.chance(0.5))}" if self.chance(0.7) else param)
        block = self.block(params)
        made.typed = self.chance(0.5)
        declared = self.chance(0.5)
        arrow = f" -> {spelled(result, True)}" if declared and isinstance(result, Type) else ""
        self.lines += ["", "", "@sn.func", f"def {name}({', '.join([*self.taken(made), *words])}){arrow}:"]
        self.left, self.result, self.returns = self.random.randrange(1, 8), result, True
        self.body(block, 1)
        if result is not None:
            value = self.returned(block)
            if declared and isinstance(result, Scalar) and result in NUMBERS and self.chance(0.3):
                value = self.weak(result, block)
            self.emit(block, f"return {value}")
        else:
            self.emit(block, "pass")
        self.funcs.append(made)
        made.annotated = bool(params) and not made.defaults and all(": " in word for word in words)

    def taken(self, func: Func) -> list[str]:
        """The parameters that every func has."""
        return [*self.palette.thread, self.palette.params, "s1", "s5"] if func.typed else self.given()

    def returned(self, block: Block) -> str:
        """What a func gives back."""
        assert self.result is not None
        kinds = self.result if isinstance(self.result, tuple) else (self.result,)
        return ", ".join(self.expression(kind, block, 1) for kind in kinds)

    def overload(self, first: Func) -> None:
        """Write another func of the name, whose first parameter has another type."""
        kinds = [kind for kind in self.types if kind != first.params[0][1]]
        params = [(next(self.names), self.pick(kinds)), *((next(self.names), kind) for _, kind in first.params[1:])]
        block = self.block(params)
        words = [f"{name}: {spelled(kind)}" for name, kind in params]
        result = self.pick(self.types)
        self.lines += ["", "", "@sn.func", f"def {first.name}({', '.join([*self.taken(first), *words])}):"]
        self.left, self.result, self.returns = self.random.randrange(1, 5), result, True
        self.body(block, 1)
        self.emit(block, f"return {self.expression(result, block, 2)}")
        self.funcs.append(Func(first.name, params, result))

    # statements

    def body(self, block: Block, nested: int) -> None:
        """Write statements until the budget, or this block's share of it, is spent."""
        share = self.random.randrange(1, 5) if nested else 99
        while self.left > 0 and share > 0:
            share, self.left = share - 1, self.left - 1
            self.statement(block, nested)

    def statement(self, block: Block, nested: int) -> None:
        options: list[tuple[float, Callable[[], None]]] = [
            (4, lambda: self.declare(block)),
            (4, lambda: self.assign(block)),
            (3, lambda: self.augment(block)),
            (3, lambda: self.element(block)),
            (1, lambda: self.swap(block)),
            (0.5, lambda: self.unpack(block)),
            (0.4, lambda: self.several(block)),
            (0.4 if self.apart else 0, lambda: self.atomic(block)),
            (1, lambda: self.emit(block, self.view(block, next(self.names)))),
            (0.7, lambda: self.do(block)),
            (1.2, lambda: self.library(block)),
            (0.3 if self.apart else 0, lambda: self.check(block)),
            (0.2 if self.apart else 0, lambda: self.show(block)),
        ]
        if nested < 4:
            options += [
                (3, lambda: self.branch(block, nested)),
                (2 if block.loops < 2 and self.apart else 0, lambda: self.loop(block, nested)),
                (0.6 if block.loops < 2 else 0, lambda: self.each(block, nested)),
            ]
        if nested and self.returns:
            options.append((0.4, lambda: self.leave(block)))
        if block.loops:
            options.append((1.5, lambda: self.jump(block)))
        self.one_of(*options)

    def declare(self, block: Block) -> None:
        name, kind = next(self.names), self.pick(self.types)
        if isinstance(kind, Scalar) and kind in NUMBERS and self.chance(0.3):
            self.emit(block, f"{name}: {spelled(kind, self.chance(0.5))} = {self.weak(kind, block)}")
        elif self.chance(0.1):
            kind = int32
            self.emit(block, f"{name} = {self.weak(kind, block, 0)}")
        else:
            note = f": {spelled(kind, True)}" if self.chance(0.2) else ""
            self.emit(block, f"{name}{note} = {self.expression(kind, block)}")
        self.add(block, name, kind)

    def several(self, block: Block) -> None:
        """A variable of several values, which are read by their number."""
        name, kinds = next(self.names), [self.pick(self.types) for _ in range(self.random.randrange(1, 4))]
        self.emit(block, f"{name} = ({', '.join(self.expression(kind, block, 1) for kind in kinds)},)")
        parts = {f"{name}[{at}]": kind for at, kind in enumerate(kinds)}
        block.variables |= parts
        block.frozen |= {*parts}

    def atomic(self, block: Block) -> None:
        """An atomic operation on the thread's own element."""
        array = self.pick(one for one in block.arrays if one.written and one.kind in ATOMIC)
        name, kind, where = next(self.names), array.kind, ", ".join([array.name, *self.mine(array)])
        word = self.pick(["min", "max"] if kind is float32 else ["add", "sub", "min", "max"])
        self.emit(block, f"{name} = sn.atomic_{word}({where}, {self.expression(kind, block, 1)})")
        block.variables[name] = kind

    def library(self, block: Block) -> None:
        """What a function of the library gives; a stream of random numbers is a variable of this block."""
        text, kind = self.pick([*STRAIGHT, *(self.loops if self.apart else [])])
        rows = [one for one in block.arrays if not one.written and len(one.dims) == 1 and one.kind in NUMBERS]
        floats = [one.name for one in rows if one.kind is float32]
        given, asked = {}, asks(text)
        if (asked & {"row", "of"} and not rows) or ("floats" in asked and not floats):
            self.declare(block)
            return
        if "state" in asked:
            streams = [name for name, its in self.free_of(block, uint32) if name.isidentifier()]
            given["state"] = self.pick(streams) if streams and self.chance(0.8) else next(self.names)
            if given["state"] not in streams:
                self.emit(block, f"{given['state']} = sn.rand_init({self.expression(int32, block, 1)})")
                self.add(block, given["state"], uint32)
        if rows:
            row = self.pick(rows)
            given |= {"row": row.name, "of": self.expression(row.kind, block, 1)}
        given |= {"floats": self.pick(floats)} if floats else {}
        name = next(self.names)
        self.emit(block, f"{name} = {filled(text, given, lambda its: self.expression(its, block, 1))}")
        self.add(block, name, kind)

    def free(self, block: Block) -> list[str]:
        """The variables that may be assigned here: none that counts a loop."""
        return [name for name in block.variables if name not in block.frozen]

    def free_of(self, block: Block, kind: Type) -> list[tuple[str, Type]]:
        """The variables of a type that may be assigned here."""
        return [(name, kind) for name in self.free(block) if block.variables[name] == kind]

    def value(self, kind: Type, block: Block) -> str:
        """What is assigned: an expression of the type, or a number that takes it."""
        if isinstance(kind, Scalar) and kind in NUMBERS and self.chance(0.25):
            return self.weak(kind, block)
        if isinstance(kind, Scalar) and kind in NUMBERS and self.chance(0.15):
            return f"{self.expression(kind, block)} if {self.condition(block, 1)} else {self.weak(kind, block)}"
        return self.expression(kind, block)

    def assign(self, block: Block) -> None:
        names = self.free(block)
        if not names:
            self.declare(block)
            return
        name = self.pick(names)
        kind = block.variables[name]
        if isinstance(kind, Composite) and self.chance(0.5):
            self.emit(block, f"{name}{self.axis(kind, block)} = {self.value(kind.scalar, block)}")
        else:
            self.emit(block, f"{name} = {self.value(kind, block)}")

    def target(self, block: Block) -> tuple[str, Scalar | Composite]:
        """A place and its type."""
        names = self.free(block)
        if names and self.chance(0.6):
            place = self.pick(names)
            kind = block.variables[place]
        else:
            place, kind = self.own(block, self.types)
        while isinstance(kind, Struct):
            name, kind = self.pick(fields(kind))
            place += f".{name}"
        if isinstance(kind, Composite) and self.chance(0.6):
            return place + self.axis(kind, block), kind.scalar
        return place, kind

    def augment(self, block: Block) -> None:
        place, kind = self.target(block)
        if kind is bool_:
            self.emit(block, f"{place} {self.pick('&|^')}= {self.condition(block, 2)}")
        elif isinstance(kind, Composite):
            symbol, value = self.pick("+-*"), self.expression(kind, block, 2)
            value = self.expression(kind.scalar, block, 2) if symbol == "*" else value
            self.emit(block, f"{place} {symbol}= {value}")
        else:
            symbol = self.pick([*WHOLE, "<<", ">>"] if kind.is_integer else self.real)
            value = self.weak(kind, block) if self.chance(0.4) else self.expression(kind, block, 2)
            value = str(self.random.randrange(kind.bits)) if symbol in ("<<", ">>") else value
            value = self.pick("2357") if kind.is_integer and symbol in ("//", "%") else value
            self.emit(block, f"{place} {symbol}= {value}")

    def element(self, block: Block) -> None:
        place, kind = self.own(block, self.types)
        while isinstance(kind, Struct) and self.chance(0.5):
            name, kind = self.pick(fields(kind))
            place += f".{name}"
        if isinstance(kind, Composite) and self.chance(0.5):
            place, kind = place + self.axis(kind, block), kind.scalar
        self.emit(block, f"{place} = {self.value(kind, block)}")

    def swap(self, block: Block) -> None:
        names = self.free(block)
        pairs = [(a, b) for a in names for b in names if a < b and block.variables[a] == block.variables[b]]
        if not pairs:
            self.declare(block)
            return
        a, b = self.pick(pairs)
        self.emit(block, f"{a}, {b} = {b}, {self.pick([a, self.expression(block.variables[b], block, 2)])}")

    def unpack(self, block: Block) -> None:
        """Take apart a vector, or what a func of two results gives."""
        vectors = [kind for kind in self.types if isinstance(kind, Vector)]
        pairs = [func.result for func in self.funcs if isinstance(func.result, tuple)]
        if pairs and block.loops < 2 and self.chance(0.7):
            kinds = self.pick(pairs)
            value = self.call(kinds, block, 1)
        elif vectors:
            kind = self.pick(vectors)
            kinds, value = (kind.scalar,) * kind.length, self.expression(kind, block, 1)
        else:
            self.declare(block)
            return
        names = [next(self.names) for _ in kinds]
        self.emit(block, f"{', '.join(names)} = {value}")
        block.variables |= dict(zip(names, kinds))

    def do(self, block: Block) -> None:
        self.emit(block, self.call(None, block, 1) or "pass")

    def check(self, block: Block) -> None:
        if self.chance(0.5):
            self.emit(block, f'assert {self.condition(block, 2)} or i >= 0, "so it is"')
        else:  # one thread may fail, and tell what it compared
            self.emit(block, f"if i == {self.pick([0, 5, 20, 100])}:")
            self.emit(block.inner(), f"assert {self.comparison(block, 2)}")

    def show(self, block: Block) -> None:
        """Print some values."""
        kinds: list[Type] = [*self.palette.scalars, *self.palette.composites]
        given = [self.expression(self.pick(kinds), block, 1) for _ in range(self.random.randrange(1, 4))]
        text, ends = self.pick([[], ['"so"'], ['"50 %"'], ["(s1, s5)"]]), self.pick([[], ['sep="; "'], ['end=""']])
        self.emit(block, f"print({', '.join([*text, *given, *ends])})")

    def leave(self, block: Block) -> None:
        result = "" if self.result is None else f" {self.returned(block)}"
        self.emit(block, f"if {self.condition(block, 2)}:")
        self.emit(block.inner(), f"return{result}")

    def branch(self, block: Block, nested: int) -> None:
        for word in ["if", *["elif"] * self.pick([0, 0, 0, 1, 2])]:
            self.emit(block, f"{word} {self.condition(block, 3)}:")
            self.suite(block.inner(), nested)
        if self.chance(0.5):
            self.emit(block, "else:")
            self.suite(block.inner(), nested)

    def suite(self, block: Block, nested: int) -> None:
        before = len(self.lines)
        self.body(block, nested + 1)
        if len(self.lines) == before:
            self.emit(block, "pass")
