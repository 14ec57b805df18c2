"""Variables: one type each, which the first assignment fixes; a tuple is a variable for each of its parts."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.agree import sources_of, started_as_literal, text
from sim_node.compiler.frontend.body import Body, Variable, describe
from sim_node.compiler.frontend.operand import Operand, Static, Weak, spelled
from sim_node.compiler.frontend.ssa import UNASSIGNED
from sim_node.compiler.ir.function import Value
from sim_node.dtypes import Scalar
from sim_node.errors import BuildTypeError, mistakes
from sim_node.lang.func import Func


def assign(body: Body, name: str, operand: Operand, node: ast.AST, source: ast.AST) -> None:
    """Assign a variable, whose type its first assignment fixes; ``source`` is the syntax of what is assigned."""
    variable = body.variables.get(name)
    if isinstance(operand, tuple):
        _assign_tuple(body, name, variable, operand, node, source)
    elif isinstance(operand, Static) and (variable is None or variable.static is not None):
        body.bind(name, operand, node)
    elif variable is None:
        value = body.materialise(operand, source)
        body.declare(name, value, node, text(source) if isinstance(operand, Weak) else "")
    elif variable.type is None:
        raise _other(body, name, variable, operand, source)
    else:
        _assign_value(body, name, variable, operand, source)


def begin(body: Body, name: str, operand: Operand, node: ast.AST) -> None:
    """Give a parameter what its caller passes."""
    if isinstance(operand, tuple):
        body.variables[name] = Variable(None, getattr(node, "lineno", 0), parts=len(operand))
        for at, part in enumerate(operand):
            begin(body, f"{name}[{at}]", part, node)
    elif isinstance(operand, Value):
        body.declare(name, operand, node)
    else:
        assign(body, name, operand, node, node)


def _assign_tuple(
    body: Body, name: str, variable: Variable | None, parts: tuple[Operand, ...], node: ast.AST, source: ast.AST
) -> None:
    if variable is None:
        body.variables[name] = Variable(None, getattr(node, "lineno", 0), parts=len(parts))
    elif variable.parts != len(parts):
        raise _other(body, name, variable, parts, source)
    sources = sources_of(source, len(parts))
    for at, (part, written) in enumerate(zip(parts, sources, strict=True)):
        assign(body, f"{name}[{at}]", part, node, written)


def _assign_value(body: Body, name: str, variable: Variable, operand: Operand, source: ast.AST) -> None:
    if isinstance(operand, Weak) and isinstance(variable.type, Scalar):
        value = body.constant(variable.type, operand, source)
    else:
        value = body.materialise(operand, source)
    if value.type != variable.type:
        raise body.error(
            mistakes.RETYPED,
            f"'{name}' has its type since line {variable.line}: it is {variable.type!r}, not {value.type!r}", source,
            _retype(body, name, variable, value, source),
        )  # fmt: skip
    body.builder.write(name, value)


def _other(body: Body, name: str, variable: Variable, operand: Operand, source: ast.AST) -> BuildTypeError:
    given = f"a tuple of {len(operand)}" if isinstance(operand, tuple) else describe(operand)
    what = f"'{name}' has its type since line {variable.line}: it is {variable.type!r}, not {given}"
    if variable.type is None:
        stands = describe(variable.static) if variable.static is not None else f"a tuple of {variable.parts}"
        what = f"'{name}' stands for {stands} since line {variable.line}, and not for {given}"
        if variable.static is not None and isinstance(variable.static.value, Func):
            what = f"rebinding function-valued local '{name}' to a non-function: {what}"
    return body.error(mistakes.RETYPED, what, source, "use another name")


def _retype(body: Body, name: str, known: Variable, value: Value, source: ast.AST) -> str:
    advice = started_as_literal(body, ast.Name(name), value.type)
    if advice or not isinstance(value.type, Scalar) or not isinstance(known.type, Scalar):
        return advice or "use another name"
    return f"{spelled(known.type)}({text(source)}), or another name"


def recall(body: Body, name: str, node: ast.AST) -> Operand:
    """Read a variable; raises BuildNameError where nothing is assigned to it yet."""
    variable = body.variables.get(name)
    if variable is not None and variable.parts is not None:
        return tuple(recall(body, f"{name}[{at}]", node) for at in range(variable.parts))
    if variable is not None and variable.static is not None:
        body.builder.read(name, node, variable.marker)
        return variable.static
    value = body.builder.read(name, node) if variable is not None else UNASSIGNED
    if value is UNASSIGNED:
        raise body.error(mistakes.UNASSIGNED, f"'{name}' is read before anything is assigned to it", node,
                         f"assign {name} above this line")  # fmt: skip
    return value
