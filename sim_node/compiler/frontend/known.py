"""What the build knows about operands."""

from __future__ import annotations

from typing import Any

from sim_node.compiler.frontend.operand import Literal, Operand, Static
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import Composite, Scalar


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
    if isinstance(operand, Value) and isinstance(operand.type, Composite):
        return Sized(operand.type.shape[0])
    if isinstance(operand, Value):
        return number(operand)
    raise UnknownError
