"""Which loops over a range of constants are written out: short ones, and those whose body needs the number at build."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.capture import OutsideError, captured
from sim_node.compiler.frontend.operand import Static
from sim_node.dtypes import ArrayType
from sim_node.lang.static import static

LIMIT = 1024  # times that the body of a loop is written out, those around it counted too
_SHORT = 32  # statements that a loop may come to which need not be written out, and is


def worthwhile(body: Body, node: ast.For, times: int) -> bool:
    """Whether a loop is so short that what is left of it, with every number known, takes less to build and to run."""
    statements = sum(isinstance(part, ast.stmt) for statement in node.body for part in ast.walk(statement))
    return 0 < body.unrolled * times * statements <= _SHORT


def needed(body: Body, node: ast.For) -> bool:
    """Whether something in the body of the loop depends on its name and must be known at build.

    That is what stands in ``sn.static(…)``, and an index into a tuple or into the components of a vector.
    """
    changing = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    for statement in node.body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Call) and _mentions(part.args, changing) and _is_static(body, part.func):
                return True
            if isinstance(part, ast.Subscript) and _mentions([part.slice], changing) and _has_parts(body, part.value):
                return True
    return False


def _mentions(nodes: list[ast.expr], names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for node in nodes for part in ast.walk(node))


def _is_static(body: Body, node: ast.expr) -> bool:
    try:
        thing = captured(body, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    except OutsideError:
        return False
    return isinstance(thing, Static) and thing.value is static


def _has_parts(body: Body, node: ast.expr) -> bool:
    """Whether an expression is known to be a tuple or a vector: a variable that is one, or a captured one."""
    if isinstance(node, ast.Name) and node.id in body.variables:
        variable = body.variables[node.id]
        return variable.parts is not None or not isinstance(variable.type, (ArrayType, type(None)))
    try:
        thing = captured(body, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    except OutsideError:
        return False
    return thing is not None and not isinstance(thing, Static)
