"""Computing with numbers that have no type: as Python does, with all their digits, when the kernel is built."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sim_node.compiler.frontend.agree import text
from sim_node.compiler.frontend.body import Body
from sim_node.compiler.frontend.operand import Literal, Weak, mapped, outcomes
from sim_node.errors import mistakes

_OUTCOMES = 64  # of choices between literals, which are all computed at build


def fold_literals(body: Body, symbol: str, fold: Callable[..., Any], node: ast.AST, *operands: Weak) -> Weak:
    """Compute with literals as Python does, without a type."""

    def folded(*literals: Literal) -> Literal:
        values = [literal.value for literal in literals]
        bools = [isinstance(value, bool) for value in values]
        if any(bools) and not (all(bools) and symbol in ("&", "|", "^", "==", "!=")):
            raise body.error(mistakes.OPERATOR, f"'{symbol}' takes numbers, not bools", node, "convert: int(…)")
        if symbol in ("<<", ">>") and type(values[1]) is int:
            check_shift(body, values[1], 64, node)
        try:
            with np.errstate(all="ignore"):
                return Literal(fold(*values))
        except (ArithmeticError, TypeError) as error:
            raise body.error(mistakes.CONSTANT, f"{text(node)}: {error}", node) from None

    if math.prod(len(list(outcomes(operand))) for operand in operands) > _OUTCOMES:
        raise body.error(
            mistakes.TOO_LARGE, f"'{text(node)}' has more than {_OUTCOMES} possible results that have no type", node,
            "give one of the numbers its type, such as float(…)",
        )  # fmt: skip
    return mapped(folded, *operands)


def quotient(a: Any, b: Any) -> Any:
    """Divide numbers that the build knows: as Python does, and a float by zero as every run does, by IEEE 754."""
    if b == 0 and float in (type(a), type(b)):
        with np.errstate(all="ignore"):
            return float(np.float64(a) / np.float64(b))
    return a / b


def check_shift(body: Body, count: int, bits: int, node: ast.AST) -> None:
    """Refuse a constant shift count outside of the width."""
    if not 0 <= count < bits:
        raise body.error(mistakes.CONSTANT, f"a shift by {count} is outside 0 to {bits - 1}", node)
