"""From a kernel to a module: the table of all syntax, and the one entry of the front end."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from sim_node.compiler.frontend import calls, comparisons, logic, loops, operators, places, refusals, statements
from sim_node.compiler.frontend.body import Body, Visit
from sim_node.compiler.frontend.unit import Unit
from sim_node.compiler.ir.function import Module
from sim_node.errors import mistakes
from sim_node.lang.kernel import Kernel

VISITORS: dict[type[ast.AST], Visit] = {
    kind: visit
    for part in (refusals, statements, loops, logic, comparisons, operators, places, calls)
    for kind, visit in part.VISITORS.items()
}


def lower(kernel: Kernel, layouts: Mapping[str, str] | None = None) -> Module:
    """Lower a kernel and the funcs it calls to SSA form.

    ``layouts`` says of array parameters by name that they are strided or indexed. What the functions capture is
    read now and becomes part of the module. Raises BuildError, with place and remedy.
    """
    return typed(kernel, layouts)[0]


def typed(kernel: Kernel, layouts: Mapping[str, str] | None = None) -> tuple[Module, dict[str, Body]]:
    """Lower a kernel as ``lower`` does, and give for each function of the module also what was learnt on the way."""
    unit = Unit(VISITORS)
    try:
        return unit.lower(kernel, layouts or {}), unit.bodies
    except RecursionError:
        raise mistakes.TOO_LARGE(
            f"kernel '{kernel.name}' has expressions or statements nested too deeply", remedy="use more variables"
        ) from None
