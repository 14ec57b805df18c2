"""Truth: conditions, and / or / not, chains of comparisons and the ternary, with the right side only where needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sim_node.compiler.frontend.agree import Written, agree, text
from sim_node.compiler.frontend.body import Body, Visit, describe
from sim_node.compiler.frontend.operand import Choice, Literal, Operand, Weak, default_type, outcomes
from sim_node.compiler.frontend.ssa import Draft
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar, bool_
from sim_node.errors import BuildTypeError


@dataclass(frozen=True, slots=True)
class Term:
    """A bool expression still to be lowered, and whether evaluating it without need goes unnoticed."""

    total: bool
    lower: Callable[[], Value | Literal]


# Syntax that may stop the thread, or do something; everything else may as well be computed without need.
_STOPS = (ast.Call, ast.Subscript, ast.FloorDiv, ast.Mod)


def total(node: ast.AST) -> bool:
    """Whether evaluating the expression can neither stop the thread nor be noticed."""
    return not any(isinstance(part, _STOPS) for part in ast.walk(node))


def condition(body: Body, node: ast.expr) -> Value | Literal:
    """Lower an expression that must be a bool; a literal when it is known now."""
    operand = body.visit(node)
    if isinstance(operand, Literal) and isinstance(operand.value, bool):
        return operand
    if isinstance(operand, Choice) and all(isinstance(literal.value, bool) for literal in outcomes(operand)):
        return body.constant(bool_, operand, node)
    if isinstance(operand, Value) and operand.type == bool_:
        return operand
    raise body.error(
        BuildTypeError, f"a condition is a bool, and '{text(node)}' is {describe(operand)}", node,
        _truth(operand, text(node)),
    )  # fmt: skip


def _truth(operand: Operand, written: str) -> str:
    if isinstance(operand, Weak) or (isinstance(operand, Value) and isinstance(operand.type, Scalar)):
        return f"{written} != 0"
    if isinstance(operand, Value) and isinstance(operand.type, ArrayType):
        return f"len({written}) > 0"
    return "compare it with something"


def as_value(body: Body, truth: Value | Literal) -> Value:
    """Give a condition as a value."""
    return truth if isinstance(truth, Value) else body.builder.constant(bool_, truth.value)


def chain(body: Body, node: ast.AST, until: bool, terms: Sequence[Term]) -> Value | Literal:
    """Lower terms that are evaluated in order until one is ``until``: False for ``and``, True for ``or``.

    A term that cannot stop the thread joins the one before it by a plain operation. Any other gets a block of its own,
    which each term after it is inside of, and all blocks leave to one end.
    """
    builder, line = body.builder, getattr(node, "lineno", 0)
    variable = object()
    end: Draft | None = None
    truth = terms[0].lower()
    for term in terms[1:]:
        if isinstance(truth, Literal):
            if truth.value is until:
                break
            truth = term.lower()
        elif term.total:
            right = term.lower()
            if isinstance(right, Value):
                truth = body.emit(Op.OR if until else Op.AND, bool_, (truth, right), node)
            elif right.value is until:
                truth = right
        else:
            end = end or builder.block("end")
            more = builder.block("more", f"when the condition in line {line} is undecided by its left side")
            builder.write(variable, builder.constant(bool_, until))
            builder.branch(truth, *((end, more) if until else (more, end)), body.location(node))
            builder.enter(more)
            truth = term.lower()
    if end is None:
        return truth
    builder.write(variable, as_value(body, truth))
    builder.jump(end)
    builder.enter(end)
    return builder.read(variable)


def bool_node(body: Body, node: ast.BoolOp) -> Operand:
    """Lower ``and`` and ``or`` of bools."""
    terms = [Term(total(value), partial(condition, body, value)) for value in node.values]
    return chain(body, node, isinstance(node.op, ast.Or), terms)


def negation(body: Body, node: ast.UnaryOp) -> Operand:
    """Lower ``not``."""
    truth = condition(body, node.operand)
    if isinstance(truth, Literal):
        return Literal(not truth.value)
    return body.emit(Op.INVERT, bool_, (truth,), node)


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
            return _choice(body, node, Choice(test, sides[0][0], sides[1][0]))
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
        return _choice(body, node, Choice(test, *_joined(body, join, weak)))
    values = agree(body, what, node, *(written for _, written in lowered))
    for (block, _), value in zip(lowered, values, strict=True):
        builder.current = block
        builder.write(variable, value)
        builder.jump(join)
    builder.enter(join)
    return builder.read(variable)


def _choice(body: Body, node: ast.IfExp, choice: Choice) -> Choice:
    body.chosen[node] = default_type(choice)
    return choice


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
