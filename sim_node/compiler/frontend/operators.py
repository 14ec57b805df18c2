"""Unary, binary and comparison operators: one table each, from syntax to IR or to a func of the library."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sim_node.compiler.frontend.agree import Written, agree, computed, numbers, splat, text
from sim_node.compiler.frontend.body import Body, Visit
from sim_node.compiler.frontend.funcs import invoke_value
from sim_node.compiler.frontend.literals import check_shift, fold_literals, quotient
from sim_node.compiler.frontend.logic import negation
from sim_node.compiler.frontend.operand import Operand, Weak, outcomes, spelled
from sim_node.compiler.frontend.overloading import of_structs
from sim_node.compiler.frontend.powers import power
from sim_node.compiler.frontend.products import product
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.dtypes import SCALARS, Composite, Kind, Scalar, bool_
from sim_node.errors import mistakes
from sim_node.lang.func import Func
from sim_node.lang.library import scalar as library


@dataclass(frozen=True, slots=True)
class Binary:
    """A row: how the operator is written, its IR operation (None: of FLOORING, or powers.py), what Python does to
    literals, and which vector forms it has: v·v of one type, s·v, v·s."""

    symbol: str
    op: Op | None
    fold: Callable[[Any, Any], Any]
    forms: str = ""


BINARY: dict[type[ast.operator], Binary] = {
    ast.Add: Binary("+", Op.ADD, operator.add, "vv"),
    ast.Sub: Binary("-", Op.SUB, operator.sub, "vv"),
    ast.Mult: Binary("*", Op.MUL, operator.mul, "sv vs"),
    ast.MatMult: Binary("@", Op.MUL, operator.matmul),
    ast.Div: Binary("/", Op.DIV, quotient, "vs sv"),
    ast.FloorDiv: Binary("//", None, operator.floordiv, "vv"),
    ast.Mod: Binary("%", None, operator.mod, "vv"),
    ast.Pow: Binary("**", None, operator.pow),
    ast.BitAnd: Binary("&", Op.AND, operator.and_),
    ast.BitOr: Binary("|", Op.OR, operator.or_),
    ast.BitXor: Binary("^", Op.XOR, operator.xor),
    ast.LShift: Binary("<<", Op.SHL, operator.lshift),
    ast.RShift: Binary(">>", Op.SHR, operator.rshift),
}

# Operators that take more than one operation, by symbol and scalar type.
_FLOORING: dict[str, dict[Kind | str, Func]] = {
    "//": {
        Kind.INT: library.floor_divide_int,
        Kind.UINT: library.floor_divide_uint,
        "f16": library.floor_divide_f16,
        "f32": library.floor_divide_f32,
        "f64": library.floor_divide_f64,
    },
    "%": {
        Kind.INT: library.modulo_int,
        Kind.UINT: library.modulo_uint,
        "f16": library.modulo_f16,
        "f32": library.modulo_f32,
        "f64": library.modulo_f64,
    },
}
FLOORING: dict[tuple[str, Scalar], Func] = {
    (symbol, scalar): rows.get(scalar.kind) or rows[scalar.name]
    for symbol, rows in _FLOORING.items()
    for scalar in SCALARS
    if scalar.kind is not Kind.BOOL
}

# symbol, operation (None: the operand itself), what Python does to a literal, kinds of scalars; ~True is -2 in Python
UNARY: dict[type[ast.unaryop], tuple[str, Op | None, Callable[[Any], Any], str]] = {
    ast.USub: ("-", Op.NEG, operator.neg, "iuf"),
    ast.UAdd: ("+", None, operator.pos, "iuf"),
    ast.Invert: ("~", Op.INVERT, operator.invert, "iu"),
}

# What to write instead where an operator does not take a kind of scalar.
_ADVICE: dict[tuple[str, Kind], str] = {
    **{("/", kind): "float({0}) / float({1}), or {0} // {1} to round down" for kind in (Kind.INT, Kind.UINT)},
    ("~", Kind.BOOL): "not {0}",
    ("-", Kind.BOOL): "convert: int({0})",
    **{
        (symbol, Kind.FLOAT): "convert to an integer type, or take the bits with sn.cast"
        for symbol in ["&", "|", "^", "<<", ">>", "~"]
    },
}


def binary_node(body: Body, node: ast.BinOp) -> Operand:
    """Lower ``a op b``."""
    row = BINARY[type(node.op)]
    left, right = body.visit(node.left), body.visit(node.right)
    return binary(body, row, node, (left, node.left), (right, node.right))


def binary(body: Body, row: Binary, node: ast.AST, left: Written, right: Written) -> Operand:
    """Lower a binary operation of operands that were lowered already."""
    what = f"'{row.symbol}'"
    if isinstance(left[0], Weak) and isinstance(right[0], Weak):
        return fold_literals(body, row.symbol, row.fold, node, left[0], right[0])
    of_author = of_structs(body, row.symbol, node, left, right)
    if of_author is not None:
        return of_author
    if any(isinstance(operand, Value) and isinstance(operand.type, Composite) for operand, _ in (left, right)):
        return _vector(body, row, node, left, right)
    if row.symbol == "**":
        return power(body, node, left, right)
    a, b = agree(body, what, node, left, right)
    assert isinstance(a.type, Scalar)
    if row.op is None:
        check_kind(body, row.symbol, "iuf", a.type, node, left, right)
        _guard(body, row.symbol, a, b, node)
        return invoke_value(body, FLOORING[row.symbol, a.type], (a, b), node)
    check_kind(body, row.symbol, SIGNATURES[row.op].kinds, a.type, node, left, right)
    if row.op in (Op.SHL, Op.SHR) and isinstance(right[0], Weak):
        for count in outcomes(right[0]):
            check_shift(body, int(count.value), a.type.bits, right[1])
    return body.emit(row.op, a.type, (a, b), node)


def check_kind(
    body: Body, symbol: str, kinds: str, type: Scalar | Composite, node: ast.AST, *operands: Written
) -> None:
    """Refuse a scalar kind that the operation does not take."""
    if type.scalar.kind.value not in kinds:
        advice = _ADVICE.get(
            (symbol, type.scalar.kind), "convert: " + ", ".join(f"int({{{i}}})" for i in range(len(operands)))
        )
        remedy = advice.format(*(text(at) for _, at in operands))
        raise body.error(mistakes.OPERATOR, f"'{symbol}' does not take {type!r}", node, remedy)


def _vector(body: Body, row: Binary, node: ast.AST, left: Written, right: Written) -> Value:
    """Vector forms: sums of one vector type, and scaling by its scalar type or a literal."""
    operands = [computed(body, o, at) if not isinstance(o, Weak) else o for o, at in (left, right)]
    a, b = operands
    if row.symbol in ("*", "@") and isinstance(a, Value) and isinstance(b, Value):
        both = isinstance(a.type, Composite) and isinstance(b.type, Composite)
        made = product(body, a, b, node) if both else None
        if made is not None:
            return made
    form = "".join("v" if isinstance(o, Value) and isinstance(o.type, Composite) else "s" for o in operands)
    if form not in row.forms.split():
        advice = "sn.dot(a, b), or write the components out" if form == "vv" else "write the components out"
        kinds = " and ".join("a vector" if letter == "v" else "a scalar" for letter in form)
        raise body.error(mistakes.OPERATOR, f"'{row.symbol}' is not defined for {kinds}", node, advice)
    if form == "vv":
        values = agree(body, f"'{row.symbol}'", node, left, right)
    else:
        values = _scaling(body, row, node, form.index("v"), left, right)
    vector = values[0].type
    assert isinstance(vector, Composite)
    if row.op is None:
        sides = zip(*(numbers(body, value, node) for value in values), strict=True)
        parts = [binary(body, row, node, (a, left[1]), (b, right[1])) for a, b in sides]
        return body.emit(Op.MAKE, vector, tuple(body.materialise(part, node) for part in parts), node)
    check_kind(body, row.symbol, SIGNATURES[row.op].kinds, vector, node, left, right)
    return body.emit(row.op, vector, values, node)


def _scaling(body: Body, row: Binary, node: ast.AST, at: int, *operands: Written) -> tuple[Value, ...]:
    vector, (other, other_at) = operands[at][0], operands[1 - at]
    assert isinstance(vector, Value)
    assert isinstance(vector.type, Composite)
    scalar = body.constant(vector.type.scalar, other, other_at) if isinstance(other, Weak) else other
    assert isinstance(scalar, Value)
    if scalar.type != vector.type.scalar:
        wanted = f"convert the scalar: {spelled(vector.type.scalar)}({text(other_at)})"
        raise body.error(mistakes.MIXED, f"'{row.symbol}' mixes {vector.type!r} and {scalar.type!r}", node, wanted)
    wide = splat(body, scalar, vector.type, node)
    return (vector, wide) if at == 0 else (wide, vector)


def _guard(body: Body, symbol: str, a: Value, b: Value, node: ast.AST) -> None:
    """Stop the thread where an integer division has no result: by zero, and the least integer by -1."""
    scalar = a.type
    assert isinstance(scalar, Scalar)
    if scalar.is_float:
        return
    known = b.attr if b.op is Op.CONST else None
    constant = body.builder.constant
    if known == 0 and known is not None:
        raise body.error(mistakes.CONSTANT, f"'{symbol}' by zero", node)
    if known is None:
        nonzero = body.emit(Op.NE, bool_, (b, constant(scalar, 0)), node)
        body.check(nonzero, "division", text(node), node)
    if symbol == "//" and scalar.kind is Kind.INT and known in (None, -1):
        not_least = body.emit(Op.NE, bool_, (a, constant(scalar, -(2 ** (scalar.bits - 1)))), node)
        not_minus = body.emit(Op.NE, bool_, (b, constant(scalar, -1)), node)
        body.check(body.emit(Op.OR, bool_, (not_least, not_minus), node), "overflow", text(node), node)


def unary_node(body: Body, node: ast.UnaryOp) -> Operand:
    """Lower ``-a``, ``+a`` and ``~a``; ``not`` is in logic.py."""
    if isinstance(node.op, ast.Not):
        return negation(body, node)
    symbol, op, fold, kinds = UNARY[type(node.op)]
    operand = body.visit(node.operand)
    if isinstance(operand, Weak):
        return fold_literals(body, symbol, fold, node, operand)
    value = computed(body, operand, node.operand)
    of_structs(body, symbol, node, (value, node.operand))
    assert isinstance(value.type, (Scalar, Composite))
    check_kind(body, symbol, kinds, value.type, node, (operand, node.operand))
    return value if op is None else body.emit(op, value.type, (value,), node)


VISITORS: dict[type[ast.AST], Visit] = {ast.BinOp: binary_node, ast.UnaryOp: unary_node}
