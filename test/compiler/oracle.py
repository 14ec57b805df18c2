"""Runs the source of a kernel under CPython, thread by thread, on numpy scalars: what compiled code must agree with.

Python computes everything. Stand-ins take the places where a bare numpy scalar would not do what the language says:
integer division stops the thread, shift counts are masked, an index is checked, a vector is a value, and a number
without a type takes the type of the variable, parameter, element or result that it reaches.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

import sim_node as sn
from sim_node import dtypes
from sim_node.lang.builtins import BUILTINS, thread
from sim_node.lang.func import Func

STEPS = 300_000
OPERATORS: dict[type[ast.operator], str] = {
    ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


class Stopped(Exception):
    """The thread stopped itself; the line is that of the innermost call in the source."""

    def __init__(self, kind: str, index: int = 0, length: int = 0) -> None:
        self.kind, self.index, self.length = kind, index, length
        super().__init__(kind)


class EndlessError(Exception):
    """The program runs for too long to be worth it."""


def number(value: Any) -> bool:
    """Whether a value is Python's own number, which has no type yet."""
    return type(value) in (bool, int, float)


def typed(value: Any, kind: Any) -> Any:
    """Give a number without a type this one, and a vector as a value of its own; anything else must have it."""
    if isinstance(value, Vec):
        assert value.row.dtype == kind.numpy
        return Vec(value.row.copy())
    if number(value):
        with np.errstate(all="ignore"):
            return kind.numpy.type(value)
    assert value.dtype == kind.numpy, (value.dtype, kind)
    return value


def kind_of(value: Any) -> Any:
    """The type that a variable gets from its first value."""
    if isinstance(value, Vec):
        return SimpleNamespace(numpy=value.row.dtype)
    if number(value):
        return dtypes.PYTHON[type(value)]
    return SimpleNamespace(numpy=value.dtype)


class Vec:
    """A vector, or an element of an array of them, which its components write through to."""

    __array_ufunc__ = None  # numpy's scalars leave operators to this class

    def __init__(self, row: Any) -> None:
        object.__setattr__(self, "row", row)

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self.row):
            raise Stopped("index", int(index), len(self.row))
        return self.row[int(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index]
        self.row[int(index)] = typed(value, SimpleNamespace(numpy=self.row.dtype))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.row)

    def __getattr__(self, name: str) -> Any:
        if name not in "xyzw":
            raise AttributeError(name)
        return self.row["xyzw".index(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        self["xyzw".index(name)] = value

    def __eq__(self, other: Any) -> Any:
        return all(a == b for a, b in zip(self.row, other.row, strict=True))

    def __ne__(self, other: Any) -> Any:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Vec:
        return Vec(-self.row)

    def __pos__(self) -> Vec:
        return Vec(+self.row)


def _vector_operator(operate: Callable[[Any, Any], Any]) -> tuple[Callable[..., Vec], Callable[..., Vec]]:
    def plain(self: Vec, other: Any) -> Vec:
        return Vec(operate(self.row, other.row if isinstance(other, Vec) else other))

    def reflected(self: Vec, other: Any) -> Vec:
        return Vec(operate(other, self.row))

    return plain, reflected


for _name in ("add", "sub", "mul", "truediv"):
    _plain, _reflected = _vector_operator(getattr(operator, _name))
    setattr(Vec, f"__{_name}__", _plain)
    setattr(Vec, f"__r{_name}__", _reflected)


class Array:
    """An array parameter."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory

    def __len__(self) -> int:
        return len(self.memory)

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self.memory):
            raise Stopped("index", int(index), len(self.memory))
        element = self.memory[int(index)]
        return Vec(element) if self.memory.ndim > 1 else element

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index]
        value = typed(value, SimpleNamespace(numpy=self.memory.dtype))
        self.memory[int(index)] = value.row if isinstance(value, Vec) else value


class Frame:
    """The variables' types of one call, and the statements counted over all of them."""

    statements = 0

    def __init__(self) -> None:
        self.kinds: dict[str, Any] = {}

    def set(self, name: str, value: Any, kind: Any = None) -> Any:
        """Assign a variable, whose first value fixes its type."""
        self.count()
        if name not in self.kinds:
            self.kinds[name] = kind if kind is not None else kind_of(value)
        return typed(value, self.kinds[name])

    def param(self, name: str, value: Any, kind: Any) -> Any:
        """Pass an argument."""
        return value if isinstance(value, Array) else self.set(name, value, kind)

    def ret(self, value: Any, kind: Any) -> Any:
        """Return a value."""
        return typed(value, kind if kind is not None else kind_of(value))

    def count(self) -> bool:
        """Count a statement."""
        Frame.statements += 1
        if Frame.statements > STEPS:
            raise EndlessError
        return True

    def range(self, name: str, *limits: Any) -> Iterator[Any]:
        """Count as Python's range does, in the type that its limits have."""
        limits = alike(*limits)
        kind = kind_of(limits[0])
        if len(limits) > 2 and limits[2] == 0:
            raise Stopped("assert")
        for value in range(*(int(limit) for limit in limits)):
            yield self.set(name, value, kind)


def alike(*values: Any) -> tuple[Any, ...]:
    """Give numbers without a type that of the others, or of a float if one is, or leave them."""
    kinds = [kind_of(value) for value in values if not number(value) and not isinstance(value, (Vec, Array))]
    return tuple(typed(v, kinds[0]) if kinds and number(v) else v for v in values)


def operate(symbol: str, a: Any, b: Any) -> Any:
    """Flooring division and shifts, as the language has them."""
    if number(a) and number(b):
        return {"//": operator.floordiv, "%": operator.mod, "<<": operator.lshift, ">>": operator.rshift}[symbol](a, b)
    a, b = alike(a, b)
    assert a.dtype == b.dtype
    if symbol in ("<<", ">>"):
        count = b.dtype.type(int(b) & (8 * b.itemsize - 1))
        return a << count if symbol == "<<" else a >> count
    if a.dtype.kind in "iu":
        if b == 0:
            raise Stopped("division")
        if symbol == "//" and a.dtype.kind == "i" and b == -1 and a == np.iinfo(a.dtype).min:
            raise Stopped("overflow")
    return a // b if symbol == "//" else a % b


def check(truth: Any) -> None:
    """Stop the thread where an assertion fails."""
    if not truth:
        raise Stopped("assert")


class _StandIns(ast.NodeTransformer):
    """Puts the stand-ins where the language is not bare Python."""

    def __init__(self) -> None:
        self.result: ast.expr | None = None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.result = node.returns
        for index, statement in enumerate(node.body):
            node.body[index] = self.visit(statement)
        head = [_parse("frame = Frame()")[0]]
        for arg in node.args.args:
            kind = ast.unparse(arg.annotation) if arg.annotation else "None"
            head += _parse(f"{arg.arg} = frame.param('{arg.arg}', {arg.arg}, {kind})")
            arg.annotation = None
        node.body[:0] = [ast.copy_location(line, node) for line in head]
        node.decorator_list, node.returns = [], None
        return node

    def _set(self, target: ast.expr, value: ast.expr, kind: ast.expr | None = None) -> ast.expr:
        if not isinstance(target, ast.Name):
            return value
        args = [ast.Constant(target.id), value, *([kind] if kind else [])]
        return ast.Call(ast.Attribute(_load("frame"), "set", ast.Load()), args, [])

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        target = node.targets[0]
        if isinstance(target, ast.Tuple):  # the names get their types once all values are there
            kept = [_parse(f"{n.id} = frame.set('{n.id}', {n.id})")[0] for n in target.elts if isinstance(n, ast.Name)]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else []
            for index, part in enumerate(values):  # a vector is a value as soon as it is read
                values[index] = ast.Call(_load("taken"), [part], [])
            return ast.If(ast.Constant(True), [node, *kept], [])
        node.value = self._set(target, node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        assert node.value is not None
        return ast.Assign([node.target], self._set(node.target, node.value, node.annotation))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if type(node.op) not in OPERATORS:
            name = [ast.Assign([node.target], self._set(node.target, _as_load(node.target)))]
            return ast.If(ast.Constant(True), [node, *(name if isinstance(node.target, ast.Name) else [])], [])
        value = _operation(node.op, _as_load(node.target), node.value)
        return ast.Assign([node.target], self._set(node.target, value))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        return _operation(node.op, node.left, node.right) if type(node.op) in OPERATORS else node

    def visit_Return(self, node: ast.Return) -> Any:
        self.generic_visit(node)
        if node.value is not None:
            kind = self.result or ast.Constant(None)
            node.value = ast.Call(ast.Attribute(_load("frame"), "ret", ast.Load()), [node.value, kind], [])
        return node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        assert isinstance(node.iter, ast.Call)
        assert isinstance(node.target, ast.Name)
        call = ast.Attribute(_load("frame"), "range", ast.Load())
        node.iter = ast.Call(call, [ast.Constant(node.target.id), *node.iter.args], [])
        return node

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [_parse("frame.count()")[0].value, node.test])  # type: ignore[attr-defined]
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        return ast.Expr(ast.Call(_load("check"), [node.test], []))


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _parse(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _as_load(target: ast.expr) -> ast.expr:
    loaded = copy.deepcopy(target)
    loaded.ctx = ast.Load()  # type: ignore[attr-defined]
    return loaded


def _operation(op: ast.operator, left: ast.expr, right: ast.expr) -> ast.expr:
    return ast.Call(_load("operate"), [ast.Constant(OPERATORS[type(op)]), left, right], [])


def taken(value: Any) -> Any:
    """Read a value into a tuple."""
    return Vec(value.row.copy()) if isinstance(value, Vec) else value


def _callable(thing: Any) -> Any:
    """A builtin or func of the library on numbers, scalars and vectors."""
    if not isinstance(thing, Func) and thing not in BUILTINS.values():
        return thing

    def call(*args: Any) -> Any:
        result = thing(*alike(*args))
        return Vec(result) if isinstance(result, np.ndarray) and result.ndim else result

    return call


def _maker(kind: Any) -> Any:
    def make(*parts: Any) -> Any:
        if isinstance(kind, dtypes.Scalar):
            return kind(*parts)
        if len(parts) == 1 and isinstance(parts[0], Vec):
            return Vec(np.array([kind.scalar(part) for part in parts[0].row], kind.numpy))
        row = np.array([typed(part, kind) for part in parts], kind.numpy)
        return Vec(np.resize(row, kind.length) if parts else np.zeros(kind.length, kind.numpy))

    make.numpy, make.kind = kind.numpy, kind  # type: ignore[attr-defined]
    return make


class _Names:
    """``sn`` for plain Python."""

    def __getattr__(self, name: str) -> Any:
        if name == "array":
            return lambda dtype: None
        if name == "cast":
            return lambda value, make: sn.cast(value, make.kind)
        thing = getattr(sn, name)
        return _maker(thing) if isinstance(thing, (dtypes.Scalar, dtypes.Vector)) else _callable(thing)


def names(source: str, file: str) -> dict[str, Any]:
    """Run a program's source with the stand-ins; the names that it defines."""
    tree = ast.parse(source)
    stand_ins = _StandIns()
    tree.body = [
        stand_ins.visit(part) if isinstance(part, ast.FunctionDef) else part
        for part in tree.body
        if not isinstance(part, ast.Import)
    ]
    tree = ast.fix_missing_locations(tree)
    first = {kind.__name__: _maker(scalar) for kind, scalar in dtypes.PYTHON.items()}
    extremes = {word: _extreme(function) for word, function in (("min", min), ("max", max))}
    space = {"sn": _Names(), "np": np, "Frame": Frame, "operate": operate, "check": check, "taken": taken}
    space |= {
        **first,
        **extremes,
        "len": lambda thing: np.int32(len(thing)) if isinstance(thing, Array) else len(thing),
    }
    exec(compile(tree, file, "exec"), space)
    return space


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(*alike(*values))


def run(function: Callable[..., Any], dim: int, args: list[Any], file: str) -> tuple[str, int, int, int, int] | None:
    """Run the threads in order; (kind, line, thread, index, length) of the one that stopped, if one did."""
    given = [Array(arg) if isinstance(arg, np.ndarray) and arg.ndim else arg for arg in args]
    for index in range(dim):
        try:
            with thread(index), np.errstate(all="ignore"):
                function(*given)
        except Stopped as stop:
            line, trace = 0, stop.__traceback__
            while trace is not None:
                line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == file else line
                trace = trace.tb_next
            return stop.kind, line, index, stop.index, stop.length
    return None
