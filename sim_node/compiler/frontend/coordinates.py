"""The coordinates of the thread: ``sn.tid()``."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.body import Body
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import int32
from sim_node.errors import mistakes

MAX_DIMS = 4


def coordinates(body: Body, count: int, node: ast.AST) -> tuple[Value, ...]:
    """Give so many coordinates; a function asks for the same number wherever it asks."""
    if not 1 <= count <= MAX_DIMS:
        raise body.error(mistakes.COORDINATES, f"sn.tid() has 1 to {MAX_DIMS} coordinates, not {count}", node)
    if body.dims not in (0, count):
        raise body.error(
            mistakes.COORDINATES,
            f"sn.tid() has {count} coordinate{'s' * (count > 1)} here and {body.dims} elsewhere",
            node,
            "ask for the same number of them everywhere: a launch has one dim",
        )
    body.dims = count
    return tuple(body.emit(Op.TID, int32, (), node, axis) for axis in range(count))


def is_tid(operand: object, node: ast.AST) -> bool:
    """Whether an operand is what a call of ``sn.tid()`` has just given."""
    return isinstance(operand, Value) and operand.op is Op.TID and isinstance(node, ast.Call)
