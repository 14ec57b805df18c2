"""One function being lowered: where values go, what names mean, and how errors say where they are."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sim_node.compiler.frontend import layouts
from sim_node.compiler.frontend.operand import (
    Choice,
    Literal,
    Operand,
    Static,
    Weak,
    default_type,
    number,
    outcomes,
    spelled,
    unfit,
)
from sim_node.compiler.frontend.outside import known, refusal
from sim_node.compiler.frontend.scope import Scope
from sim_node.compiler.frontend.signature import Signature
from sim_node.compiler.frontend.source import Source
from sim_node.compiler.frontend.ssa import Builder, Draft
from sim_node.compiler.ir.function import Attr, Site, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Composite, Scalar, Struct, Type, bool_
from sim_node.errors import BuildError, Location, mistakes
from sim_node.errors.mistakes import Mistake
from sim_node.lang.annotation import is_open
from sim_node.lang.func import Func

B = TypeVar("B", bound=BuildError)

Visit = Callable[["Body", Any], Any]

# What a func is given or gives: a type, a thing that exists only at build, or a tuple of those.
Form = Type | Static | tuple["Form", ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """Where break and continue go."""

    after: Draft
    again: Draft


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable's one type, the line that fixed it, and the literal that did if one did.

    One that stands for something that exists only at build has no type. ``static`` is what it stands for here, as
    ``marker`` records it: the marker that a read must find on every path. A tuple has ``parts``, each a variable.
    """

    type: Type | None
    line: int
    literal: str = ""
    static: Static | None = None
    marker: Value | None = None
    parts: int | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """A func lowered for one tuple of arguments: its name in the module and what it gives, in the parts of a tuple."""

    name: str
    result: Form | None


@dataclass(frozen=True, slots=True)
class Renewed:
    """What a call of a func that changes variables gives: whether a result first, then each variable, if any."""

    result: bool
    variables: tuple[str | None, ...]


class Unit(Protocol):
    """The module being lowered, as one of its functions sees it."""

    visitors: dict[type[ast.AST], Visit]
    fast: bool
    deterministic: bool  # whether what depends on the order of threads is refused

    def signature(self, func: Func) -> Signature:
        """Give a func's parameters."""

    def instantiate(self, func: Func, given: tuple[Form, ...], caller: Location) -> Instance:
        """Lower a func for types of arguments and things known at build, unless that was done before."""


class Body:
    """The state of lowering one function. What to do with each kind of syntax is in the table of visitors."""

    def __init__(self, unit: Unit, source: Source, scope: Scope, kernel: bool, caller: Location | None = None) -> None:
        self.unit, self.source, self.scope, self.kernel, self.caller = unit, source, scope, kernel, caller
        self.builder = Builder()
        self.loops: list[Loop] = []
        self.unrolled = 1  # how often the statements at hand are written out
        self.sites: list[Site] = []
        self.returns: list[tuple[Draft, Operand | None, ast.AST]] = []
        self.variables: dict[str, Variable] = {}
        self.dims = 0  # coordinates that tid() has, 0 where it was not asked for
        self.result: Form | None = None  # what it gives, once it was lowered
        # Of the typed results: which instances a call of a func came to, what it changes, the type of a ternary of two
        # literals, and the elements that a ``*`` before a slice of an array stands for.
        self.called: dict[ast.AST, list[str]] = {}
        self.renewed: dict[ast.AST, Renewed] = {}
        self.chosen: dict[ast.AST, Scalar] = {}
        self.spread: dict[ast.AST, list[ast.expr]] = {}
        self._locations: dict[tuple[int, int], Location] = {}

    # syntax

    def visit(self, node: ast.AST) -> Any:
        """Lower a piece of syntax: an expression gives an operand."""
        visitor = self.unit.visitors.get(type(node))
        if visitor is None:
            raise self.error(
                mistakes.NOT_IN_LANGUAGE, f"{type(node).__name__} is not part of the kernel language", node
            )
        return visitor(self, node)

    def visit_all(self, statements: list[ast.stmt]) -> None:
        """Lower statements, up to where control cannot come any more."""
        for statement in statements:
            if self.builder.current is None:
                return
            self.visit(statement)

    def location(self, node: ast.AST) -> Location:
        """Where a node is, without the calls that led there: those are known only when the func is inlined."""
        key = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        place = self._locations.get(key)
        if place is None:
            place = self._locations[key] = self.source.location(node)
        return place

    def error(self, mistake: Mistake[B], what: str, node: ast.AST, remedy: str = "") -> B:
        """Make an error at a node, with the chain of calls that led to this function."""
        return mistake(what, self.source.location(node, self.caller), remedy)

    # values

    def declare(self, name: str, value: Value, node: ast.AST, literal: str = "") -> None:
        """Assign a variable for the first time, which fixes its type."""
        assert value.type is not None
        self.variables[name] = Variable(value.type, getattr(node, "lineno", 0), literal)
        self.builder.write(name, value)

    def bind(self, name: str, static: Static, node: ast.AST) -> None:
        """Let a variable stand for something that exists only at build, from here on."""
        marker = Value(Op.CONST, None)
        self.variables[name] = Variable(None, getattr(node, "lineno", 0), "", static, marker)
        self.builder.write(name, marker)

    def emit(self, op: Op, type: Type | None, args: tuple[Value, ...], node: ast.AST, attr: Attr = None) -> Value:
        """Append a value to the current block."""
        return self.builder.emit(op, type, args, attr, self.location(node))

    def site(self, kind: str, subject: str, node: ast.AST) -> int:
        """Number a place where a thread may stop itself."""
        self.sites.append(Site(kind, subject, self.location(node)))
        return len(self.sites) - 1

    def check(self, condition: Value, kind: str, subject: str, node: ast.AST, told: tuple[Value, ...] = ()) -> None:
        """Stop the thread where the condition is false; the error tells the two scalars that it compares, if any."""
        self.emit(Op.CHECK, None, (condition, *told), node, self.site(kind, subject, node))

    def constant(self, scalar: Scalar, literal: Weak, node: ast.AST) -> Value:
        """Give a literal its type, refusing one that the type cannot hold; a choice becomes a select."""
        if isinstance(literal, Choice):
            self.chosen[node] = scalar
            sides = (self.constant(scalar, side, node) for side in (literal.yes, literal.no))
            return self.emit(Op.SELECT, scalar, (literal.test, *sides), node)
        reason = unfit(literal, scalar)
        if reason:
            raise self.error(
                mistakes.UNFIT_NUMBER, f"{literal.value!r} cannot be {scalar}: {reason}", node,
                _constant_remedy(literal, scalar),
            )  # fmt: skip
        return self.builder.constant(scalar, number(literal, scalar))

    def convert(
        self, operand: Operand, type: Type, node: ast.AST, role: str, of: ast.AST | None = None, why: str = ""
    ) -> Value:
        """Give the operand as a value of the type: literals adapt, anything else must have it already.

        ``role`` says in the error what the value is for, with ``{}`` for the source of ``of``, and ``why`` why it must
        have the type.
        """
        if isinstance(operand, Weak) and isinstance(type, Scalar):
            return self.constant(type, operand, node)
        value = self.materialise(operand, node)
        if layouts.fits(value.type, type):
            return layouts.laid(self, value, node)
        if value.type != type:
            wanted = "" if is_open(type) or not isinstance(node, ast.expr) else _conversion(node, value.type, type)
            subject = role.format(ast.unparse(of)) if of is not None else role
            remedy = f"{wanted}: {why}" if why else wanted
            raise self.error(mistakes.WRONG_TYPE, f"{subject} is {type!r}, not {value.type!r}", node, remedy)
        return value

    def materialise(self, operand: Operand, node: ast.AST) -> Value:
        """Give the operand as a value that exists when the kernel runs; a literal takes its default type."""
        if isinstance(operand, Value):
            return operand
        if isinstance(operand, Weak):
            return self.constant(default_type(operand), operand, node)
        if isinstance(operand, Static) and not known(operand.value):
            raise self.outside(operand, node)
        raise self.error(
            mistakes.NO_VALUE, f"{ast.unparse(node)} is {describe(operand)}, and no value at run time", node,
            f"take one of its parts: {ast.unparse(node)}[0]" if isinstance(operand, tuple)
            else "kernels compute with scalars and vectors",
        )  # fmt: skip

    def outside(self, static: Static, node: ast.AST) -> BuildError:
        """Make the error that says why something that exists only outside of the kernel cannot be used."""
        what, remedy = refusal(static.value, ast.unparse(node))
        return self.error(mistakes.OUTSIDE, what, node, remedy)

    def value(self, node: ast.expr) -> Value:
        """Lower an expression to a value."""
        return self.materialise(self.visit(node), node)


def _conversion(node: ast.expr, given: Type | None, type: Type) -> str:
    if isinstance(given, ArrayType):
        return f"index the array: {ast.unparse(node)}[i]"
    if isinstance(given, Composite) and isinstance(type, Scalar):
        return f"take a component, or sn.length({ast.unparse(node)})"
    # inside a ternary, for what may be literals there: outside, they have lost their digits
    if isinstance(node, ast.IfExp):
        yes, no = (_conversion(side, given, type) for side in (node.body, node.orelse))
        return f"{yes} if {ast.unparse(node.test)} else {no}"
    return f"{spelled(type)}({ast.unparse(node)})"


def _constant_remedy(literal: Literal, scalar: Scalar) -> str:
    if isinstance(literal.value, bool):
        return f"{spelled(scalar)}({literal.value})"
    if scalar == bool_:
        return f"bool({literal.value!r})"
    if scalar.is_integer and isinstance(literal.value, float):
        whole = literal.value.is_integer()
        return f"write {int(literal.value)}" if whole else f"convert the other side to a float, or {spelled(scalar)}(…)"
    return "use a wider type, such as " + ("sn.float64" if scalar.is_float else "sn.int64 or sn.uint64")


def describe(operand: Operand) -> str:
    """Say what kind of thing an operand is."""
    if isinstance(operand, tuple):
        return "a tuple"
    if isinstance(operand, Static):
        thing = operand.value
        return "a type" if isinstance(thing, (Scalar, Composite, Struct, type)) else f"a {type(thing).__name__.lower()}"
    if isinstance(operand, Literal):
        return f"the number {operand.value!r}"
    if isinstance(operand, Choice):
        return " or ".join(f"the number {literal.value!r}" for literal in outcomes(operand))
    return f"an array of {operand.type.dtype!r}" if isinstance(operand.type, ArrayType) else f"{operand.type!r}"
