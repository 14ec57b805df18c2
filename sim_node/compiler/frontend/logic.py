"""Truth: conditions, and / or / not, chains of comparisons and the ternary, with the right side only where needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sim_node.compiler.frontend.agree import Written, agree, text
from sim_node.compiler.frontend.body import Body, Visit, describe
from sim_node.compiler.frontend.operand import Choice, Literal, Operand, Weak, mapped, outcomes
from sim_node.compiler.frontend.ssa import Draft
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar, bool_, int32
from sim_node.errors import mistakes


@dataclass(frozen=True, slots=True)
class Term:
    """A bool expression still to be lowered, and whether evaluating it without need goes unnoticed."""

    total: bool
    lower: Callable[[], Value | Literal]


# Syntax that may stop the thread, or do something; everything else may as well be computed without need.
_STOPS = (ast.Call, ast.Subscript, ast.FloorDiv, ast.Mod, ast.NamedExpr)


def total(node: ast.AST) -> bool:
    """Whether evaluating the expression can neither stop the thread nor be noticed."""
    return not any(isinstance(part, _STOPS) for part in ast.walk(node))


def condition(body: Body, node: ast.expr) -> Value | Literal:
    """Lower an expression to whether it is true, as Python says of numbers and tuples; a literal if known now."""
    if isinstance(node, ast.BoolOp):
        return _operands(body, node, condition)
    return truth(body, body.visit(node), node)


def truth(body: Body, operand: Operand, node: ast.expr) -> Value | Literal:
    """Whether an operand is true: a number that is not 0, a tuple or an array that is not empty."""
    if isinstance(operand, tuple):
        return Literal(bool(operand))
    if isinstance(operand, Literal):
        return Literal(bool(operand.value))
    if isinstance(operand, Choice):
        return body.constant(bool_, mapped(lambda literal: Literal(bool(literal.value)), operand), node)
    if isinstance(operand, Value) and operand.type == bool_:
        return operand
    if isinstance(operand, Value) and isinstance(operand.type, Scalar):
        return body.emit(Op.NE, bool_, (operand, body.constant(operand.type, Literal(0), node)), node)
    if isinstance(operand, Value) and isinstance(operand.type, ArrayType):
        length = body.emit(Op.EXTRACT, int32, (operand,), node, operand.type.extent(0))
        return body.emit(Op.NE, bool_, (length, body.constant(int32, Literal(0), node)), node)
    raise body.error(
        mistakes.TRUTH, f"'{text(node)}' is {describe(operand)}, which is neither true nor false", node,
        "compare it with something",
    )  # fmt: skip


def _bool(body: Body, node: ast.expr) -> Value | Literal:
    """Lower an operand of ``and`` and ``or`` where their value is wanted: Python's is an operand, so a bool."""
    operand = body.visit(node)
    if isinstance(operand, Weak) and all(isinstance(literal.value, bool) for literal in outcomes(operand)):
        return truth(body, operand, node)
    if isinstance(operand, Value) and operand.type == bool_:
        return operand
    raise body.error(
        mistakes.TRUTH, f"the value of 'and' and 'or' is a bool here, and '{text(node)}' is {describe(operand)}", node,
        f"bool({text(node)})" if isinstance(operand, Value) and isinstance(operand.type, Scalar) else "compare it",
    )  # fmt: skip


def as_value(body: Body, found: Value | Literal) -> Value:
    """Give a condition as a value."""
    return found if isinstance(found, Value) else body.builder.constant(bool_, found.value)


def chain(body: Body, node: ast.AST, until: bool, terms: Sequence[Term]) -> Value | Literal:
    """Lower terms that are evaluated in order until one is ``until``: False for ``and``, True for ``or``.

    A term that cannot stop the thread joins the one before it by a plain operation. Any other gets a block of its own,
    which each term after it is inside of, and all blocks leave to one end.
    """
    builder, line = body.builder, getattr(node, "lineno", 0)
    variable = object()
    end: Draft | None = None
    found = terms[0].lower()
    for term in terms[1:]:
        if isinstance(found, Literal):
            if found.value is until:
                break
            found = term.lower()
        elif term.total:
            right = term.lower()
            if isinstance(right, Value):
                found = body.emit(Op.OR if until else Op.AND, bool_, (found, right), node)
            elif right.value is until:
                found = right
        else:
            end = end or builder.block("end")
            more = builder.block("more", f"when the condition in line {line} is undecided by its left side")
            builder.write(variable, builder.constant(bool_, until))
            builder.branch(found, *((end, more) if until else (more, end)), body.location(node))
            builder.enter(more)
            found = term.lower()
    if end is None:
        return found
    builder.write(variable, as_value(body, found))
    builder.jump(end)
    builder.enter(end)
    return builder.read(variable)


def bool_node(body: Body, node: ast.BoolOp) -> Operand:
    """Lower ``and`` and ``or`` of bools."""
    return _operands(body, node, _bool)


def _operands(body: Body, node: ast.BoolOp, lower: Callable[[Body, ast.expr], Value | Literal]) -> Value | Literal:
    terms = [Term(total(value), partial(lower, body, value)) for value in node.values]
    return chain(body, node, isinstance(node.op, ast.Or), terms)


def negation(body: Body, node: ast.UnaryOp) -> Operand:
    """Lower ``not``."""
    known = condition(body, node.operand)
    if isinstance(known, Literal):
        return Literal(not known.value)
    return body.emit(Op.INVERT, bool_, (known,), node)


def ternary(body: Body, node: ast.IfExp) -> Operand:
    """Lower ``a if c else b``: a select where both sides may be computed, else control flow.

    Of two numbers without a type it gives one that has none either.
    """
    test = condition(body, node.test)
    if isinstance(test, Literal):
        operand: Operand = body.visit(node.body if test.value else node.orelse)
        return operand
    what = "the ternary"
    if total(node.body) and total(node.orelse):
        sides = (body.visit(node.body), node.body), (body.visit(node.orelse), node.orelse)
        if isinstance(sides[0][0], Weak) and isinstance(sides[1][0], Weak):
            return Choice(test, sides[0][0], sides[1][0])
        a, b = agree(body, what, node, *sides)
        return body.emit(Op.SELECT, a.type, (test, a, b), node)
    builder, join, variable = body.builder, body.builder.block("join"), object()
    yes, no = (builder.block(word, f"when the condition in line {node.lineno} is {word}") for word in ("true", "false"))
    builder.branch(test, yes, no, body.location(node))
    lowered: list[tuple[Draft, Written]] = []
    for block, side in ((yes, node.body), (no, node.orelse)):
        builder.enter(block)
        written = (body.visit(side), side)
        assert builder.current is not None
        lowered.append((builder.current, written))
    weak = [(block, side) for block, (side, _) in lowered if isinstance(side, Weak)]
    if len(weak) == 2:
        return Choice(test, *_joined(body, join, weak))
    for block, _ in weak:  # what has no type yet becomes a value where it was chosen
        builder.current = block
    values = agree(body, what, node, *(written for _, written in lowered))
    for (block, _), value in zip(lowered, values, strict=True):
        builder.current = block
        builder.write(variable, value)
        builder.jump(join)
    builder.enter(join)
    return builder.read(variable)


def _joined(body: Body, join: Draft, sides: list[tuple[Draft, Weak]]) -> list[Weak]:
    """End the blocks of a ternary's sides in one, to which they bring what their own choices depend on."""
    builder = body.builder
    variables = {test: object() for _, weak in sides for test in _tests(weak)}
    for block, weak in sides:
        builder.current = block
        own = _tests(weak)
        for test, variable in variables.items():
            builder.write(variable, test if test in own else builder.constant(bool_, False))
        builder.jump(join)
    builder.enter(join)
    at_join = {test: builder.read(variable) for test, variable in variables.items()}
    return [_depending(weak, at_join) for _, weak in sides]


def _tests(weak: Weak) -> list[Value]:
    return [weak.test, *_tests(weak.yes), *_tests(weak.no)] if isinstance(weak, Choice) else []


def _depending(weak: Weak, tests: dict[Value, Value]) -> Weak:
    if isinstance(weak, Literal):
        return weak
    return Choice(tests[weak.test], _depending(weak.yes, tests), _depending(weak.no, tests))


VISITORS: dict[type[ast.AST], Visit] = {ast.BoolOp: bool_node, ast.IfExp: ternary}
