"""Comparisons and their chains; every operand is evaluated once, and only as far as the chain goes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from sim_node.compiler.frontend.agree import Written, agree, components
from sim_node.compiler.frontend.body import Body, Visit
from sim_node.compiler.frontend.literals import fold_literals
from sim_node.compiler.frontend.logic import Term, chain, total
from sim_node.compiler.frontend.operand import Literal, Operand, Weak
from sim_node.compiler.frontend.operators import check_kind
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.dtypes import Scalar, Vector, bool_
from sim_node.errors import BuildTypeError, UnsupportedError

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
    ast.In: ("'in' needs a container", "write the comparisons out: x == a or x == b"),
    ast.NotIn: ("'not in' needs a container", "write the comparisons out: x != a and x != b"),
}


def compare_node(body: Body, node: ast.Compare) -> Operand:
    """Lower ``a < b`` and ``a < b < c``."""
    for op in node.ops:
        if type(op) in REFUSED:
            raise body.error(UnsupportedError, REFUSED[type(op)][0], node, REFUSED[type(op)][1])
    last: list[Written] = [(body.visit(node.left), node.left)]

    def link(op: ast.cmpop, right: ast.expr) -> Value | Literal:
        left = last[0]
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
    if isinstance(a.type, Vector):
        return _vectors(body, symbol, code, node, a, b)
    assert isinstance(a.type, Scalar)
    check_kind(body, symbol, SIGNATURES[code].kinds, a.type, node, left, right)
    return body.emit(code, bool_, (a, b), node)


def _vectors(body: Body, symbol: str, code: Op, node: ast.AST, a: Value, b: Value) -> Value:
    """Vectors are equal if all components are."""
    if code not in (Op.EQ, Op.NE):
        raise body.error(
            BuildTypeError, f"'{symbol}' has no meaning for vectors", node, "compare components, or sn.length(v)"
        )
    pairs = zip(components(body, a, node), components(body, b, node), strict=True)
    first, *others = [body.emit(code, bool_, pair, node) for pair in pairs]
    for other in others:
        first = body.emit(Op.AND if code is Op.EQ else Op.OR, bool_, (first, other), node)
    return first


VISITORS: dict[type[ast.AST], Visit] = {ast.Compare: compare_node}
