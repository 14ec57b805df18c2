"""Comparisons and their chains; every operand is evaluated once, and only as far as the chain goes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from sim_node.compiler.frontend.agree import Written, agree, numbers, sources_of, text
from sim_node.compiler.frontend.body import Body, Visit, describe
from sim_node.compiler.frontend.literals import fold_literals
from sim_node.compiler.frontend.logic import Term, chain, total
from sim_node.compiler.frontend.operand import Literal, Operand, Static, Weak
from sim_node.compiler.frontend.operators import check_kind
from sim_node.compiler.frontend.overloading import of_structs
from sim_node.compiler.frontend.ranges import range_operands
from sim_node.compiler.frontend.targets import parts
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.dtypes import SCALARS, Composite, Kind, Scalar, bool_, int32
from sim_node.errors import mistakes

COMPARE: dict[type[ast.cmpop], tuple[str, Op, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", Op.EQ, operator.eq),
    ast.NotEq: ("!=", Op.NE, operator.ne),
    ast.Lt: ("<", Op.LT, operator.lt),
    ast.LtE: ("<=", Op.LE, operator.le),
    ast.Gt: (">", Op.GT, operator.gt),
    ast.GtE: (">=", Op.GE, operator.ge),
}

REFUSED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Is: ("'is' compares objects, and kernels have values", "use =="),
    ast.IsNot: ("'is not' compares objects, and kernels have values", "use !="),
}


_NONE = "kernels have no None: pass a bool that says so, or an array of length 0"


def compare_node(body: Body, node: ast.Compare) -> Operand:
    """Lower ``a < b`` and ``a < b < c``."""
    for op in node.ops:
        if type(op) in REFUSED:
            what, remedy = REFUSED[type(op)]
            none = any(isinstance(part, ast.Constant) and part.value is None for part in (node.left, *node.comparators))
            raise body.error(mistakes.NOT_IN_LANGUAGE, what, node, _NONE if none else remedy)
    last: list[Written] = [(body.visit(node.left), node.left)]

    def link(op: ast.cmpop, right: ast.expr) -> Value | Literal:
        left = last[0]
        if isinstance(op, (ast.In, ast.NotIn)):
            return _membership(body, isinstance(op, ast.In), node, left, right)
        last[0] = (body.visit(right), right)
        return _pair(body, op, node, left, last[0])

    terms = [Term(total(right), partial(link, op, right)) for op, right in zip(node.ops, node.comparators, strict=True)]
    return chain(body, node, False, terms)


def _pair(body: Body, op: ast.cmpop, node: ast.AST, left: Written, right: Written) -> Value | Literal:
    symbol, code, fold = COMPARE[type(op)]
    if isinstance(left[0], Weak) and isinstance(right[0], Weak):
        known = fold_literals(body, symbol, fold, node, left[0], right[0])
        return known if isinstance(known, Literal) else body.constant(bool_, known, node)
    a, b = agree(body, f"'{symbol}'", node, left, right)
    if isinstance(a.type, Composite):
        return _vectors(body, symbol, code, node, a, b)
    of_structs(body, symbol, node, left)
    if a.type is bool_ and code not in (Op.EQ, Op.NE):  # they are ordered, as in Python
        a, b = (body.emit(Op.CAST, int32, (one,), node) for one in (a, b))
    assert isinstance(a.type, Scalar)
    check_kind(body, symbol, SIGNATURES[code].kinds, a.type, node, left, right)
    return body.emit(code, bool_, (a, b), node)


def _membership(body: Body, within: bool, node: ast.Compare, left: Written, right: ast.expr) -> Value | Literal:
    """Whether a value is in a range, a tuple or among the components of a vector; ``within`` False: whether not."""
    callee = body.visit(right.func) if isinstance(right, ast.Call) else None
    if isinstance(right, ast.Call) and isinstance(callee, Static) and callee.value is range:
        found: Value | Literal = _in_range(body, left, right)
    else:
        operand = body.visit(right)
        items = parts(body, operand, right)
        if items is None:
            raise body.error(
                mistakes.MEMBERSHIP, f"'in' looks into a range, a tuple or a vector, and '{text(right)}' is "
                f"{describe(operand)}", node, "write a loop over the elements",
            )  # fmt: skip
        sources = sources_of(right, len(items))
        equal = [_pair(body, ast.Eq(), node, left, written) for written in zip(items, sources, strict=True)]
        found = Literal(False)
        for one in equal:
            found = _either(body, found, one, node)
    if isinstance(found, Literal):
        return Literal(found.value is within)
    return found if within else body.emit(Op.INVERT, bool_, (found,), node)


def _either(body: Body, a: Value | Literal, b: Value | Literal, node: ast.AST) -> Value | Literal:
    if isinstance(a, Literal):
        return a if a.value else b
    if isinstance(b, Literal):
        return b if b.value else a
    return body.emit(Op.OR, bool_, (a, b), node)


def _in_range(body: Body, left: Written, call: ast.Call) -> Value:
    """Between the ends, and a whole number of steps from the start: computed without overflow, so as unsigned."""
    start, stop, _, step = range_operands(body, call)
    value, _ = agree(body, "'in'", call, left, (start, call))
    if step is None:
        raise body.error(
            mistakes.MEMBERSHIP, "'in' needs a range whose step is known at build", call, "write a constant"
        )
    scalar = start.type
    assert isinstance(scalar, Scalar)
    low, high, ends = (start, stop, (Op.LE, Op.LT)) if step > 0 else (stop, start, (Op.LT, Op.LE))
    above = body.emit(ends[0], bool_, (low, value), call)
    inside = body.emit(Op.AND, bool_, (above, body.emit(ends[1], bool_, (value, high), call)), call)
    if abs(step) == 1:
        return inside
    unsigned = next(one for one in SCALARS if one.kind is Kind.UINT and one.bits == scalar.bits)
    near, far = (start, value) if step > 0 else (value, start)
    away = body.emit(Op.SUB, scalar, (far, near), call)
    away = away if scalar == unsigned else body.emit(Op.CAST, unsigned, (away,), call)
    left_over = body.emit(Op.REM, unsigned, (away, body.builder.constant(unsigned, abs(step))), call)
    whole = body.emit(Op.EQ, bool_, (left_over, body.builder.constant(unsigned, 0)), call)
    return body.emit(Op.AND, bool_, (inside, whole), call)


def _vectors(body: Body, symbol: str, code: Op, node: ast.AST, a: Value, b: Value) -> Value:
    """Vectors are equal if all components are."""
    if code not in (Op.EQ, Op.NE):
        raise body.error(
            mistakes.OPERATOR, f"'{symbol}' has no meaning for vectors", node, "compare components, or sn.length(v)"
        )
    pairs = zip(numbers(body, a, node), numbers(body, b, node), strict=True)
    both, found = Op.AND if code is Op.EQ else Op.OR, body.builder.constant(bool_, code is Op.EQ)
    for number, pair in enumerate(pairs):
        one = body.emit(code, bool_, pair, node)
        found = one if number == 0 else body.emit(both, bool_, (found, one), node)
    return found


VISITORS: dict[type[ast.AST], Visit] = {ast.Compare: compare_node}
