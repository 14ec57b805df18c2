"""The operands of a range: integers of one type."""

from __future__ import annotations

import ast

from sim_node.compiler.frontend.agree import agree
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.operand import Literal, Operand
from sim_node.compiler.ir.function import Value
from sim_node.dtypes import Scalar
from sim_node.errors import mistakes


def _number(operand: Operand) -> Operand:
    """A bool that the build knows is a number, as in Python."""
    return Literal(int(operand.value)) if isinstance(operand, Literal) and operand.value in (False, True) else operand


def range_operands(body: Body, call: ast.Call) -> tuple[Value, Value, Value, int | None]:
    """Lower the operands of a range, of one integer type: start, stop, step, and the step where the build knows it."""
    if call.keywords or not 1 <= len(call.args) <= 3 or any(isinstance(arg, ast.Starred) for arg in call.args):
        raise body.error(
            mistakes.ARGUMENTS, "range takes 1 to 3 integers", call, "range(stop), range(start, stop, step)"
        )
    given: list[tuple[Operand, ast.AST]] = [(_number(body.visit(arg)), arg) for arg in call.args]
    if len(given) == 1:
        given.insert(0, (Literal(0), call))
    if len(given) == 2:
        given.append((Literal(1), call))
    step = given[2][0]
    known = step.value if isinstance(step, Literal) else None
    if known == 0:
        raise body.error(mistakes.ZERO_STEP, "the step of a range is 0", call.args[2], "give the step a direction")
    start, stop, stride = agree(body, "range", call, *given)
    scalar = start.type
    if not isinstance(scalar, Scalar) or not scalar.is_integer:
        raise body.error(mistakes.ARGUMENTS, f"range takes integers, not {scalar!r}", call, "convert: int(…)")
    return start, stop, stride, int(known) if known is not None else None
