"""What ``*`` takes apart, in arguments and tuples: a tuple, a vector, or a slice of an array that the build knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from sim_node.compiler.frontend.agree import Written, text
from sim_node.compiler.frontend.body import Body, describe
from sim_node.compiler.frontend.operand import Literal
from sim_node.compiler.frontend.selection import ZERO_STEP
from sim_node.compiler.frontend.targets import parts
from sim_node.compiler.ir.function import Value
from sim_node.dtypes import ArrayType
from sim_node.errors import mistakes

_ADVICE = "write the bounds as numbers, as in *a[:3], or each value in its place"


def written(body: Body, nodes: Sequence[ast.expr]) -> Iterator[Written]:
    """Lower the items of a tuple or the arguments of a call; ``*v`` stands for each part of v."""
    for node in nodes:
        if isinstance(node, ast.Starred):
            yield from _spread(body, node)
        else:
            yield body.visit(node), node


def _spread(body: Body, node: ast.Starred) -> Iterator[Written]:
    elements = _elements(body, node.value)
    if elements is not None:
        body.spread[node] = elements
        for element in elements:
            yield body.visit(element), node.value
        return
    operand = body.visit(node.value)
    several = parts(body, operand, node)
    if several is None:
        raise body.error(
            mistakes.UNPACKING, "Starred expressions are only supported for tuples, vectors and slices of arrays, and "
            f"'{text(node.value)}' is {describe(operand)}", node, "write each value in its place",
        )  # fmt: skip
    for part in several:
        yield part, node.value


def _elements(body: Body, node: ast.expr) -> list[ast.expr] | None:
    """The elements that a slice of an array in one dimension has; None where it is no such slice."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return None
    array = body.visit(node.value)
    if not isinstance(array, Value) or not isinstance(array.type, ArrayType) or array.type.ndim > 1:
        return None
    key = node.slice
    if key.upper is None:
        what = f"'*{text(node)}' requires explicit upper bound: only the run knows how long the array is"
        raise body.error(mistakes.SPREAD, what, node, _ADVICE)
    start, stop, step = (_number(body, key.lower, 0), _number(body, key.upper, 0), _number(body, key.step, 1))
    if min(start, stop) < 0:
        what = f"a bound in '*{text(node)}' cannot be negative for arrays: only the run knows where they end"
        raise body.error(mistakes.SPREAD, what, node, _ADVICE)
    if step <= 0:
        what = f"step cannot be negative in '*{text(node)}'" if step else ZERO_STEP
        raise body.error(mistakes.SPREAD, what, node, _ADVICE)
    at = [ast.copy_location(ast.Constant(index), node) for index in range(start, stop, step)]
    return [ast.copy_location(ast.Subscript(node.value, index, ast.Load()), node) for index in at]


def _number(body: Body, node: ast.expr | None, missing: int) -> int:
    if node is None:
        return missing
    operand = body.visit(node)
    if isinstance(operand, Literal) and type(operand.value) is int:
        return operand.value
    what = f"Slice component must be a compile-time constant behind '*', and '{text(node)}' is {describe(operand)}"
    raise body.error(mistakes.SPREAD, what, node, _ADVICE)
