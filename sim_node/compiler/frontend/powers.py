"""``x ** y``: products where the exponent is a whole number known at build, else a func of the library."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from sim_node.compiler.frontend.agree import Written, agree, text
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.funcs import invoke_value
from sim_node.compiler.frontend.operand import Literal
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Scalar, float16, float32, float64
from sim_node.errors import mistakes
from sim_node.lang.library.double.power import pow as pow_of_f64
from sim_node.lang.library.math import of_half
from sim_node.lang.library.power import pow as pow_of_f32

FUNCS = {float16: of_half(pow_of_f32), float32: pow_of_f32, float64: pow_of_f64}
# Up to this exponent a product of f16 or f32 is one of f64 rounded once.
MOST = 8
_Factor = TypeVar("_Factor")


def repeated(multiply: Callable[[_Factor, _Factor], _Factor], value: _Factor, exponent: int) -> _Factor:
    """Multiply a value with itself, by squares; ``exponent`` is 1 or more."""
    result: _Factor | None = None
    while True:
        if exponent & 1:
            result = value if result is None else multiply(result, value)
        exponent >>= 1
        if exponent == 0:
            assert result is not None
            return result
        value = multiply(value, value)


def power(body: Body, node: ast.AST, left: Written, right: Written) -> Value:
    """Lower ``left ** right``, of which one at least has a type."""
    a, b = agree(body, "'**'", node, left, right)
    kind = a.type
    literal = right[0].value if isinstance(right[0], Literal) else None
    exponent = literal if type(literal) is int else None
    if not isinstance(kind, Scalar) or not (kind.is_integer or kind in FUNCS):
        raise body.error(mistakes.OPERATOR, f"'**' does not take {kind!r}", node, "float(…) of both, or write products")
    if kind.is_integer:
        return _whole(body, node, a, exponent, left, right)
    if exponent == 2:
        return body.emit(Op.MUL, kind, (a, a), node)
    if exponent is not None and kind is not float64 and 2 < exponent <= MOST:
        wide = body.emit(Op.CAST, float64, (a,), node)
        product = repeated(lambda x, y: body.emit(Op.MUL, float64, (x, y), node), wide, exponent)
        return body.emit(Op.CAST, kind, (product,), node)
    return invoke_value(body, FUNCS[kind], (a, b), node)


def _whole(body: Body, node: ast.AST, base: Value, exponent: int | None, left: Written, right: Written) -> Value:
    """Of integers: a product, which wraps."""
    kind = base.type
    assert isinstance(kind, Scalar)
    floats = f"float({text(left[1])}) ** float({text(right[1])})"
    if exponent is None:
        what = "'**' of integers whose exponent is known only when the kernel runs"
        raise body.error(mistakes.POWER, what, node, floats)
    if exponent < 0:
        what = "an integer to a negative power is a float in Python"
        raise body.error(mistakes.POWER, what, node, floats)
    if exponent == 0:
        return body.builder.constant(kind, 1)
    return repeated(lambda x, y: body.emit(Op.MUL, kind, (x, y), node), base, exponent)
