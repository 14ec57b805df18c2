"""Expressions that are evaluated when the kernel is built, in Python itself."""

from __future__ import annotations

import ast
from typing import Any

from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.capture import capture
from sim_node.compiler.frontend.known import UnknownError, python
from sim_node.compiler.frontend.operand import Operand
from sim_node.compiler.frontend.places import load
from sim_node.errors import mistakes

_ADVICE = "use what is known at build: captured values, constants, and the counters of unrolled loops"


def static_call(body: Body, node: ast.Call) -> Operand:
    """Lower ``sn.static(expression)``: evaluate it now, in the scope of the function, and capture what it gives."""
    if len(node.args) != 1 or node.keywords:
        raise body.error(mistakes.ARGUMENTS, "sn.static takes one expression", node, "sn.static(n + 1)")
    (written,) = node.args
    names = {**body.scope.globals, **body.scope.closure, **_locals(body, written)}
    for name in body.scope.locals - _locals(body, written).keys():
        names.pop(name, None)
    code = compile(ast.Expression(written), body.source.file, "eval")
    try:
        thing = eval(code, names)
    except Exception as error:
        raise body.error(
            mistakes.STATIC, f"Error evaluating static expression: {error}{_needs(error)}", written,
            _ADVICE if isinstance(error, NameError) else "",
        ) from error  # fmt: skip
    if thing is None:
        raise body.error(
            mistakes.NOT_IN_LANGUAGE, f"'{text(written)}' gives None, which is no value in a kernel", written
        )
    return capture(body, thing, text(written), node)


def _needs(error: Exception) -> str:
    """What an expression that names something unknown lacks; of other errors what they are."""
    if isinstance(error, NameError):
        return ". Make sure all variables used in the static expression are constant."
    return f" ({type(error).__name__})"


def _locals(body: Body, written: ast.AST) -> dict[str, Any]:
    """The variables of the function in an expression, those that the build knows."""
    found = {}
    for part in ast.walk(written):
        if isinstance(part, ast.Name) and part.id in body.variables:
            try:
                found[part.id] = python(load(body, part))
            except UnknownError:
                continue
    return found
