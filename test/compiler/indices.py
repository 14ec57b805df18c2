"""Writes random kernels full of indices: sums that may wrap, guards, loops, remainders, indices read from memory.

Threads write their own element only, for threads have no order; what is out of bounds stops them.
"""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np

ATOMS = ("i", "n", "m", "x.shape[0]", "y.shape[1]", "len(out)")
NUMBERS = (0, 1, 2, 3, 5, 7, -1, -2, 2**31 - 1, 2**31 - 2, -(2**31) + 1)


FORMS = (
    "({a} + {b})", "({a} + {c})", "({a} - {b})", "({a} - {c})", "({a} * {c})", "({a} * {b})", "({a} % {b})",
    "({a} % {d})", "({a} // {d})", "({a} & {d})", "({a} >> {e})", "({a} << {e})", "min({a}, {b})", "max({a}, {b})",
    "({a} if {f} else {b})", "x[{a}]", "(-{a})", "abs({a})", "int(sn.uint8({a}))", "({a} % x.shape[0])",
    "int(sn.int64({a}) + sn.int64({b}))", "int(sn.uint32({a}) - sn.uint32({b}))", "min(max({a}, 0), x.shape[0] - 1)",
)  # fmt: skip


class Indices:
    """One kernel in the making."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.axes = self.random.choice([1, 1, 2])
        self.atoms = [*ATOMS, *(["j"] if self.axes == 2 else [])]
        self.lines: list[str] = []
        self.names = 0

    def text(self) -> str:
        """The module."""
        own = "out[i]" if self.axes == 1 else "out[i * 16 + j]"
        self.block(1, self.random.randrange(2, 7), list(self.atoms))
        head = ["import sim_node as sn", "", "", "@sn.kernel"]
        head += [
            "def k(x: sn.array(dtype=int), y: sn.array(dtype=int, ndim=2), out: sn.array(dtype=int), n: int, m: int):"
        ]
        start = ["    i = sn.tid()" if self.axes == 1 else "    i, j = sn.tid()", "    s = int(0)"]
        return "\n".join([*head, *start, *self.lines, f"    {own} = s"]) + "\n"

    def pick(self, choices: Any) -> Any:
        return self.random.choice(list(choices))

    def number(self) -> str:
        return str(self.pick(NUMBERS[:6] if self.random.random() < 0.8 else NUMBERS))

    def expression(self, atoms: list[str], depth: int = 0) -> str:
        """An integer."""
        if depth > 2 or self.random.random() < 0.35:
            return self.pick(atoms) if self.random.random() < 0.75 else self.number()
        a, b = self.expression(atoms, depth + 1), self.expression(atoms, depth + 1)
        form = self.pick(FORMS)
        return form.format(
            a=a, b=b, c=self.number(), d=self.pick((1, 2, 3, 4, 7)), e=self.pick((0, 1, 2, 5)),
            f=self.condition(atoms, depth + 1),
        )  # fmt: skip

    def condition(self, atoms: list[str], depth: int = 1) -> str:
        one = f"{self.expression(atoms, depth + 1)} {self.pick(('<', '<=', '>', '>=', '==', '!='))} "
        one += self.pick([self.number(), self.expression(atoms, depth + 1), *ATOMS])
        if self.random.random() < 0.3 and depth < 3:
            return f"({one} {self.pick(('and', 'or'))} {self.condition(atoms, depth + 1)})"
        return f"(not {one})" if self.random.random() < 0.1 else f"({one})"

    def index(self, atoms: list[str]) -> str:
        """Say something that is often inside."""
        form = self.pick(
            ["{a}", "{a}", "i", "i + {c}", "i - {c}", "{v}", "{v} + {c}", "i + n", "{v} * 2", "x[{v}]", "i * n + {v}"]
        )
        return form.format(a=self.expression(atoms, 1), c=self.pick((1, 2)), v=self.pick(atoms))

    def use(self, atoms: list[str]) -> str:
        if self.random.random() < 0.25:
            return f"s += y[{self.index(atoms)}, {self.index(atoms)}]"
        return f"s += x[{self.index(atoms)}]"

    def block(self, indent: int, count: int, atoms: list[str]) -> None:
        """Some statements; names made in a block are not known behind it."""
        atoms = list(atoms)
        for _ in range(count):
            self.statement(indent, atoms)

    def emit(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def statement(self, indent: int, atoms: list[str]) -> None:
        kind = self.random.random()
        if kind < 0.4 or indent > 3:
            self.emit(indent, self.use(atoms))
        elif kind < 0.55:
            name = self.name()
            self.emit(indent, f"{name} = {self.expression(atoms)}")
            atoms.append(name)
        elif kind < 0.75:
            self.emit(indent, f"if {self.condition(atoms)}:")
            self.block(indent + 1, self.random.randrange(1, 4), atoms)
            if self.random.random() < 0.3:
                self.emit(indent, "else:")
                self.block(indent + 1, self.random.randrange(1, 3), atoms)
        elif kind < 0.9:
            self.loop(indent, atoms)
        else:
            name = self.name()
            self.emit(indent, f"{name} = {self.pick(atoms)}")
            self.emit(indent, f"if {self.condition([*atoms, name])}:")
            self.emit(indent + 1, f"{name} = {self.expression([*atoms, name])}")
            atoms.append(name)
            self.emit(indent, self.use(atoms))

    def loop(self, indent: int, atoms: list[str]) -> None:
        name, other = self.name(), self.name()
        stop = self.pick(
            [f"min({self.expression(atoms, 1)}, 6)", "min(n, 9)", "min(x.shape[0], 20)", "min(y.shape[1], 20)"]
        )
        form = self.pick(
            [f"{stop}", f"{self.pick((0, 1, 2, -1))}, {stop}", f"0, {stop}, 2", f"min({stop}, 9) - 1, -1, -1"]
        )
        self.emit(indent, f"{other} = {self.pick(atoms)}")
        self.emit(indent, f"for {name} in range({form}):")
        inner = [*atoms, name, name, other]
        self.block(indent + 1, self.random.randrange(1, 3), inner)
        self.emit(indent + 1, self.use(inner))
        self.emit(indent + 1, f"{other} = {self.expression([*inner, other])}")

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"


def kernel(source: str, name: str) -> Any:
    """Make the kernel of a text, whose lines errors can show."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": name}
    exec(compile(source, name, "exec", dont_inherit=True), names)
    return names["k"]


def arguments(seed: int, axes: int) -> tuple[Any, list[Any]]:
    """A dim, and arguments of small sizes with edges among them."""
    random = np.random.default_rng(seed)
    size = int(random.integers(0, 14))
    dim: Any = size if axes == 1 else (size, int(random.integers(0, 9)))
    lengths = [
        int(random.choice([size, size, size + 1, max(size - 1, 0), random.integers(0, 14), 40])) for _ in range(3)
    ]
    edge = [-1, 0, 1, 2, size, size - 1, 5, 2**31 - 1, -(2**31)]
    x = random.choice([*range(max(size, 1)), *range(max(size, 1)), *edge], lengths[0]).astype(np.int32)
    y = random.integers(0, max(size, 1), (lengths[1], lengths[2])).astype(np.int32)
    out = np.full(16 * 16 if axes == 2 else int(random.choice([size, size, size + 2, max(size - 1, 0)])), -1, np.int32)
    n, m = (int(random.choice([*edge[:6], size, size, size])) for _ in range(2))
    return dim, [x, y, out, np.int32(n), np.int32(m)]
