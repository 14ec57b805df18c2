"""What the build knows about operands and variables, and expressions that it evaluates in Python itself."""

from __future__ import annotations

import ast
from typing import Any

from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.capture import capture
from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.frontend.places import load
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import Scalar, Vector
from sim_node.errors import BuildError, BuildTypeError, UnsupportedError

_ADVICE = "use what is known at build: captured values, constants, and the counters of unrolled loops"


class UnknownError(Exception):
    """The build does not know a value."""


class Sized:
    """Stands for a value whose length alone is known."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length


def number(value: Value) -> Any:
    """Compute a scalar of constants; raises UnknownError where one is not."""
    if value.op is Op.CONST and isinstance(value.type, Scalar):
        return value.attr
    operands = [(arg.type, number(arg)) for arg in value.args if isinstance(arg.type, Scalar)]
    if not operands or len(operands) != len(value.args) or not isinstance(value.type, Scalar):
        raise UnknownError
    known = evaluate(value.op, value.type, operands)
    if known is None:
        raise UnknownError
    return known


def python(operand: Operand) -> Any:
    """What an operand is in Python, at build; raises UnknownError for what only exists when the kernel runs."""
    if isinstance(operand, (Literal, Static)):
        return operand.value
    if isinstance(operand, tuple):
        try:
            return tuple(python(part) for part in operand)
        except UnknownError:
            return Sized(len(operand))
    if isinstance(operand, Value) and isinstance(operand.type, Vector):
        return Sized(operand.type.length)
    if isinstance(operand, Value):
        return number(operand)
    raise UnknownError


def static_call(body: Body, node: ast.Call) -> Operand:
    """Lower ``sn.static(expression)``: evaluate it now, in the scope of the function, and capture what it gives."""
    if len(node.args) != 1 or node.keywords:
        raise body.error(BuildTypeError, "sn.static takes one expression", node, "sn.static(n + 1)")
    (written,) = node.args
    names = {**body.scope.globals, **body.scope.closure, **_locals(body, written)}
    for name in body.scope.locals - _locals(body, written).keys():
        names.pop(name, None)
    code = compile(ast.Expression(written), body.source.file, "eval")
    try:
        thing = eval(code, names)
    except Exception as error:
        raise body.error(
            BuildError, f"sn.static cannot evaluate '{text(written)}': {type(error).__name__}: {error}", written,
            _ADVICE if isinstance(error, NameError) else "",
        ) from error  # fmt: skip
    if thing is None:
        raise body.error(UnsupportedError, f"'{text(written)}' gives None, which is no value in a kernel", written)
    return capture(body, thing, text(written), node)


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
