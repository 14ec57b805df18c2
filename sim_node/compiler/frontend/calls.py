"""Calls: funcs, builtins, conversions and constructors of vectors, and the few functions of Python's own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from sim_node.compiler.frontend import construction
from sim_node.compiler.frontend.agree import Written, agree, computed, numbers, text
from sim_node.compiler.frontend.atomics import atomic
from sim_node.compiler.frontend.body import Body, Visit, describe
from sim_node.compiler.frontend.construction import cast
from sim_node.compiler.frontend.coordinates import coordinates
from sim_node.compiler.frontend.funcs import call_func, invoke_value
from sim_node.compiler.frontend.layouts import extent
from sim_node.compiler.frontend.literals import fold_literals
from sim_node.compiler.frontend.operand import Literal, Operand, Static, Weak, default_type, mapped
from sim_node.compiler.frontend.outside import known
from sim_node.compiler.frontend.printing import printing, prints
from sim_node.compiler.frontend.spread import written
from sim_node.compiler.frontend.static import static_call
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.dtypes import ArrayType, Composite, Kind, Scalar, Struct, Vector, bool_
from sim_node.errors import BuildAttributeError, mistakes
from sim_node.lang.builtins import Builtin, abs_
from sim_node.lang.func import Func
from sim_node.lang.hosted import type_of
from sim_node.lang.library import scalar as library
from sim_node.lang.static import static

Arguments = list[Written]
Lower = Callable[[Body, Any, Arguments, ast.Call], Operand]


def call_node(body: Body, node: ast.Call) -> Operand:
    """Lower a call; the only expression that may give nothing is a func's, as a statement."""
    result = call(body, node)
    if isinstance(result, Value) and result.type is None:
        raise body.error(mistakes.NO_RESULT, f"'{text(node.func)}' returns nothing", node, "call it as a statement")
    return result


def call(body: Body, node: ast.Call) -> Operand:
    """Lower a call, whatever it gives."""
    callee = _callee(body, node.func)
    target = callee.value if isinstance(callee, Static) else None
    if target is static:
        return static_call(body, node)
    if prints(target):
        return printing(body, target, node)
    maker = _maker(target)
    lower = None if maker is not None or isinstance(target, Func) else _form(body, callee, node)
    for keyword in node.keywords:
        if keyword.arg is None or lower is not None:
            raise body.error(
                mistakes.BY_NAME, "arguments are passed by name to funcs only, and one by one", keyword,
                "write each argument in its place",
            )  # fmt: skip
    arguments: Arguments = list(written(body, node.args))
    if lower is not None:
        return lower(body, target, arguments, node)
    named: dict[str, Written] = {
        str(keyword.arg): (body.visit(keyword.value), keyword.value) for keyword in node.keywords
    }
    if maker is not None:
        return maker(body, arguments, named, node)
    assert isinstance(target, Func)
    return call_func(body, target, arguments, named, node)


def _callee(body: Body, node: ast.expr) -> Operand:
    """Lower what is called, and say so where a module has no such function."""
    try:
        callee: Operand = body.visit(node)
    except BuildAttributeError as lacking:
        if not isinstance(node, ast.Attribute) or f"`{node.attr}` is" not in lacking.what:
            raise
        what = f"Could not find function {text(node)}: {lacking.what}"
        raise body.error(mistakes.UNKNOWN_ATTRIBUTE, what, node, lacking.remedy) from None
    return callee


def _maker(target: object) -> Callable[..., Operand] | None:
    """How a composite value is made, where that is what the callee does."""
    if isinstance(target, Builtin):
        return construction.FORMS.get(target.name)
    for kind, make in _MADE.items():
        if isinstance(target, kind):
            return lambda body, *rest: make(body, target, *rest)
    return None


def _form(body: Body, callee: Operand, node: ast.Call) -> Lower:
    """Find how the callee is called; refuse what cannot be."""
    if isinstance(callee, Static):
        for kind, lower in _KINDS.items():
            if isinstance(callee.value, kind):
                return lower
        for thing, lower in _PYTHON:
            if callee.value is thing:
                return lower
        if not known(callee.value):
            raise body.outside(callee, node.func)
    raise body.error(
        mistakes.NOT_CALLABLE, f"'{text(node.func)}' is {describe(callee)}, which a kernel cannot call here", node,
        "for i in range(n): is the one place for range" if text(node.func) == "range" else "call an @sn.func",
    )  # fmt: skip


# conversions and vectors


def _convert(body: Body, scalar: Scalar, arguments: Arguments, node: ast.Call) -> Operand:
    """``sn.float64(x)``, ``int(x)``: by value; a float becomes an integer by truncation that saturates."""
    _count(body, scalar.name, arguments, node, 0, 1)
    if not arguments:
        return body.constant(scalar, Literal(scalar.numpy.type(0).item()), node)
    operand, at = arguments[0]
    if isinstance(operand, Weak):
        return body.constant(scalar, mapped(partial(_converted, scalar), operand), at)
    value = computed(body, operand, at)
    if not isinstance(value.type, Scalar):
        raise body.error(
            mistakes.ARGUMENTS,
            f"{scalar!r} is made from a scalar, not from {value.type!r}",
            node,
            "convert a component",
        )
    return cast(body, value, scalar, node)


def _converted(scalar: Scalar, literal: Literal) -> Literal:
    value = literal.value
    if scalar.kind is Kind.BOOL:
        return Literal(bool(value))
    if isinstance(value, bool):
        return Literal(int(value))
    finite = isinstance(value, int) or abs(value) < float("inf")
    return Literal(int(value)) if scalar.is_integer and finite else Literal(value)


# builtins


def _builtin(body: Body, builtin: Builtin, arguments: Arguments, node: ast.Call) -> Operand:
    """Lower a builtin: its operation on scalars of one type, or part by part, unless it has a form of its own."""
    op = Op[builtin.op]
    if op is Op.ATOMIC:
        return atomic(body, builtin.name, arguments, node)
    if op in _FORMS:
        return _FORMS[op](body, builtin, arguments, node)
    if op in (Op.MIN, Op.MAX) and len(arguments) == 1:
        arguments = _parts(body, *arguments[0])
    arity = SIGNATURES[op].arity or 0
    _count(body, f"sn.{builtin.name}", arguments, node, arity, None if op in (Op.MIN, Op.MAX) else arity)
    weak = [operand for operand, _ in arguments if isinstance(operand, Weak)]
    known = len(weak) == len(arguments) and default_type(*weak).kind.value in SIGNATURES[op].kinds
    if known:
        return fold_literals(body, f"sn.{builtin.name}", builtin, node, *weak)
    values = agree(body, f"sn.{builtin.name}", node, *arguments)
    kind = values[0].type
    taken = Scalar if op not in _PARTWISE else (Scalar, Vector)
    if not isinstance(kind, taken) or kind.scalar.kind.value not in SIGNATURES[op].kinds:
        floats = SIGNATURES[op].kinds == "f" and isinstance(kind, Scalar)
        raise body.error(
            mistakes.ARGUMENTS, f"sn.{builtin.name} does not take {kind!r}", node,
            f"sn.{builtin.name}(float({text(arguments[0][1])}))" if floats else "apply it to scalars",
        )  # fmt: skip
    if op not in (Op.MIN, Op.MAX):
        return body.emit(op, kind, values, node)
    result, *others = values
    for other in others:
        result = body.emit(op, kind, (result, other), node)
    return result


def _parts(body: Body, operand: Operand, at: ast.AST) -> Arguments:
    """The components of a vector as arguments of their own; what is none stays one argument."""
    if isinstance(operand, Value) and isinstance(operand.type, Vector):
        return [(part, at) for part in numbers(body, operand, at)]
    return [(operand, at)]


def _tid(body: Body, _: Builtin, arguments: Arguments, node: ast.Call) -> Value:
    _count(body, "sn.tid", arguments, node, 0, 0)
    return coordinates(body, 1, node)[0]


def _bitcast(body: Body, builtin: Builtin, arguments: Arguments, node: ast.Call) -> Value:
    _count(body, "sn.cast", arguments, node, 2, 2)
    value = computed(body, *arguments[0])
    target = arguments[1][0]
    wanted = target.value if isinstance(target, Static) else None
    fits = isinstance(wanted, Scalar) and isinstance(value.type, Scalar) and value.type.bits == wanted.bits
    if not fits or not isinstance(wanted, Scalar) or value.type == bool_:
        raise body.error(
            mistakes.CAST, f"sn.cast keeps the bits: it cannot turn {value.type!r} into {text(arguments[1][1])}", node,
            "give a type of the same width, as in sn.cast(x, sn.uint32); to convert by value write sn.uint32(x)",
        )  # fmt: skip
    return value if value.type == wanted else body.emit(Op[builtin.op], wanted, (value,), node)


def _count(body: Body, name: str, arguments: Arguments, node: ast.Call, low: int, high: int | None) -> None:
    if len(arguments) < low or (high is not None and len(arguments) > high):
        wanted = f"{low}" if high == low else f"{low} or more" if high is None else f"{low} to {high}"
        plural = "" if wanted == "1" else "s"
        raise body.error(mistakes.ARGUMENTS, f"{name} takes {wanted} argument{plural}, not {len(arguments)}", node)


# Python's own functions


def _len(body: Body, _: object, arguments: Arguments, node: ast.Call) -> Operand:
    _count(body, "len", arguments, node, 1, 1)
    thing, at = arguments[0]
    if isinstance(thing, tuple):
        return Literal(len(thing))
    if isinstance(thing, Value) and isinstance(thing.type, ArrayType):
        return extent(body, thing, 0, node)
    if isinstance(thing, Value) and isinstance(thing.type, Composite):
        return Literal(thing.type.shape[0])
    raise body.error(mistakes.ARGUMENTS, f"'{text(at)}' is {describe(thing)}, which has no len", node)


def _type(body: Body, _: object, arguments: Arguments, node: ast.Call) -> Static:
    _count(body, "type", arguments, node, 1, 1)
    operand, at = arguments[0]
    if isinstance(operand, Value) and isinstance(operand.type, ArrayType):
        return Static(operand.type)
    return Static(computed(body, operand, at).type)


def _extreme(python: Callable[..., Any], func: Func) -> Lower:
    """Python's min or max: exactly what Python gives, in the order of the arguments."""

    def lower(body: Body, _: object, arguments: Arguments, node: ast.Call) -> Operand:
        name = text(node.func)
        _count(body, name, arguments, node, 2, None)
        weak = [operand for operand, _ in arguments if isinstance(operand, Weak)]
        if len(weak) == len(arguments):
            return fold_literals(body, name, python, node, *weak)
        result, *others = agree(body, name, node, *arguments)
        if not isinstance(result.type, Scalar) or result.type == bool_:
            raise body.error(mistakes.ARGUMENTS, f"'{name}' does not take {result.type!r}", node)
        for other in others:
            result = invoke_value(body, func, (result, other), node)
        return result

    return lower


def _abs(body: Body, _: object, arguments: Arguments, node: ast.Call) -> Operand:
    return _builtin(body, abs_, arguments, node)


_KINDS: dict[type, Lower] = {Scalar: _convert, Builtin: _builtin}
_MADE: dict[type, Callable[..., Operand]] = {Composite: construction.composite, Struct: construction.struct}
_PARTWISE = (Op.ABS, Op.MIN, Op.MAX)
_FORMS: dict[Op, Lower] = {Op.TID: _tid, Op.BITCAST: _bitcast, Op.RAW: _bitcast}
_PYTHON: tuple[tuple[object, Lower], ...] = (
    (len, _len),
    (type, _type),
    (type_of, _type),
    (abs, _abs),
    (min, _extreme(min, library.smaller)),
    (max, _extreme(max, library.larger)),
)

VISITORS: dict[type[ast.AST], Visit] = {ast.Call: call_node}
