"""Computes what is known at build: constants, identities, branches; and straightens the blocks that this leaves.

An identity is here only if it holds bit for bit, for every operand: x + 0.0 is not x when x is -0.0, x - x is not 0
when x is infinite. (Which NaN is of no account: NaN is made canonical wherever bits can be seen.)
"""

from __future__ import annotations

import math

from sim_node.compiler.ir.function import Attr, Function, Module, Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.compiler.passes.rebuild import each, rebuild
from sim_node.compiler.passes.straighten import join, straighten
from sim_node.dtypes import Kind, Scalar, bool_


def fold(module: Module) -> Module:
    """Return the module with nothing left to compute or to straighten."""
    return each(module, _function)


def _function(function: Function) -> Function:
    function = straighten(function)
    while True:  # a branch that falls away may leave a parameter constant, and so on
        folded = rebuild(function, _rule)
        function = straighten(folded)
        if function is folded:
            return join(function)


def _rule(value: Value, _label: str) -> Value | None:
    if value.op is Op.CHECK:
        return None if _is(value.args[0], True) else value
    if value.op is Op.BOUNDS:
        return value.args[0] if _inside(*value.args) else value
    if not isinstance(value.type, Scalar) or not SIGNATURES[value.op].pure:
        return value
    if len(value.args) == 2 and value.op is not Op.SUB:  # which may be a remainder
        first, second = value.args
        if first.op is not Op.CONST and second.op is not Op.CONST and first is not second:
            return value  # most are so
    return _constant(value, value.type) or _identity(value, value.type) or _limited(value, value.type) or value


def _constant(value: Value, kind: Scalar) -> Value | None:
    if not value.args:
        return None
    for arg in value.args:
        if arg.op is not Op.CONST:
            return None
    operands = [(arg.type, arg.attr) for arg in value.args if isinstance(arg.type, Scalar)]
    attr = evaluate(value.op, kind, operands)
    return None if attr is None else Value(Op.CONST, kind, attr=attr, location=value.location)


def _limited(value: Value, kind: Scalar) -> Value | None:
    """Choose by one comparison between a float and a constant that is no zero and no NaN, where MIN and MAX take nine.

    Of zeros and of two NaN neither is at hand; a NaN compares false, and the constant is taken, as it must be.
    """
    if value.op not in _EXTREMES or not kind.is_float:
        return None
    for limit, other in (value.args, value.args[::-1]):
        if limit.op is Op.CONST and limit.attr and limit.attr == limit.attr:
            before = Value(_EXTREMES[value.op], bool_, (other, limit), location=value.location)
            return Value(Op.SELECT, kind, (before, other, limit), location=value.location)
    return None


def _inside(index: Value, length: Value) -> bool:
    """Whether a constant index is inside a constant length."""
    return index.op is length.op is Op.CONST and 0 <= index.attr < length.attr  # type: ignore[operator]


# op → the constant that, as second operand, leaves the first as it is; by what the type is.
_NEUTRAL: dict[Op, dict[str, Attr]] = {
    Op.ADD: {"iu": 0, "f": -0.0},
    Op.SUB: {"iu": 0, "f": 0.0},
    Op.MUL: {"iu": 1, "f": 1.0},
    Op.DIV: {"f": 1.0},
    Op.QUOT: {"iu": 1},
    Op.OR: {"b": False, "iu": 0},
    Op.XOR: {"b": False, "iu": 0},
    Op.AND: {"b": True},
    Op.EQ: {"b": True},
    Op.NE: {"b": False},
    Op.SHL: {"iu": 0},
    Op.SHR: {"iu": 0},
}
# op → the constant that, as second operand, is the result.
_ABSORBING: dict[Op, dict[str, Attr]] = {
    Op.MUL: {"iu": 0},
    Op.AND: {"b": False, "iu": 0},
    Op.OR: {"b": True},
}
_EXTREMES = {Op.MIN: Op.LT, Op.MAX: Op.GT}
_IDEMPOTENT = frozenset({Op.AND, Op.OR, Op.MIN, Op.MAX})
_INVOLUTION = frozenset({Op.NEG, Op.INVERT})


def _identity(value: Value, kind: Scalar) -> Value | None:
    args = value.args
    if value.op is Op.SELECT:
        condition, yes, no = args
        return yes if yes is no or _is(condition, True) else no if _is(condition, False) else None
    if value.op in _INVOLUTION and args[0].op is value.op:
        return args[0].args[0]
    if value.op is Op.CAST and args[0].type == kind:
        return args[0]
    if len(args) != 2:
        return None
    first, second = args
    if value.op is Op.SUB and kind.is_integer and _is_whole_part(second, first):
        return Value(Op.REM, kind, (first, second.args[1]), location=value.location)
    if first is second and value.op in _IDEMPOTENT:
        return first
    if first is second and value.op is Op.SUB and kind.is_integer:
        return Value(Op.CONST, kind, attr=0, location=value.location)
    if value.op in (Op.EQ, Op.NE) and _is(second, 0) and _has_bits(first):
        return Value(Op.CONST, kind, attr=value.op is Op.NE, location=value.location)
    if second.op is Op.CONST:
        return _beside(second, first, value.op, kind)
    if first.op is Op.CONST and SIGNATURES[value.op].commutes:
        return _beside(first, second, value.op, kind)
    return None


def _is_whole_part(product: Value, dividend: Value) -> bool:
    """Whether it is the quotient of a dividend by the other factor, whose rest is then the remainder."""
    if product.op is not Op.MUL or product.args[0].op is not Op.QUOT:
        return False
    return product.args[0].args == (dividend, product.args[1])


def _has_bits(value: Value) -> bool:
    """Whether some bit of an integer is sure to be set, as in ``x | 1``."""
    return value.op is Op.OR and any(arg.op is Op.CONST and bool(arg.attr) for arg in value.args)


def _beside(constant: Value, other: Value, op: Op, kind: Scalar) -> Value | None:
    """What an op gives of a constant and another operand, where that needs no computing."""
    if _is(constant, _pick(_NEUTRAL, op, kind.kind)):
        return other
    return constant if _is(constant, _pick(_ABSORBING, op, kind.kind)) else None


def _pick(table: dict[Op, dict[str, Attr]], op: Op, kind: Kind) -> Attr:
    rows = table.get(op, {})
    return next((attr for kinds, attr in rows.items() if kind.value in kinds), None)


def _is(value: Value, attr: Attr) -> bool:
    """Whether a value is this constant, the sign of zero included."""
    if value.op is not Op.CONST or attr is None:
        return False
    same = type(value.attr) is type(attr) and value.attr == attr
    return same and (not isinstance(attr, float) or math.copysign(1, attr) == math.copysign(1, value.attr))  # type: ignore[arg-type]
