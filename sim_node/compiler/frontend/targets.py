"""What stands on the left of an assignment: places, and tuples of them, which are taken apart."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.agree import components, sources_of, text
from sim_node.compiler.frontend.body import Body, describe
from sim_node.compiler.frontend.operand import Operand
from sim_node.compiler.frontend.places import place, store
from sim_node.compiler.ir.function import Value
from sim_node.dtypes import Composite
from sim_node.errors import mistakes


def assign_to(body: Body, target: ast.expr, operand: Operand, source: ast.AST) -> None:
    """Assign an operand to a target; ``source`` is the syntax that it came from."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        store(body, place(body, target), operand, target, source)
        return
    values = parts(body, operand, source)
    if values is None:
        raise body.error(
            mistakes.UNPACKING,
            f"'{text(source)}' is {describe(operand)}, which cannot be unpacked",
            source,
            "unpack a tuple or a vector",
        )
    if len(values) != len(target.elts):
        raise body.error(mistakes.UNPACKING, f"{len(values)} values for {len(target.elts)} targets", target)
    for part, value, at in zip(target.elts, values, sources_of(source, len(values)), strict=True):
        assign_to(body, part, value, at)


def parts(body: Body, operand: Operand, node: ast.AST) -> tuple[Operand, ...] | None:
    """Take apart what Python iterates over with a length that the build knows; None for anything else."""
    if isinstance(operand, Value) and isinstance(operand.type, Composite):
        return components(body, operand, node)
    return operand if isinstance(operand, tuple) else None
