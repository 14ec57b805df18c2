"""What each op demands beyond its signature: one rule an op, returning the fault or None."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from sim_node.compiler.ir.atomic import ATOMICS
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Kind, Leaf, Scalar, Tuple, Type, bool_, int32, pointer

_FORMATS = {16: "<e", 32: "<f"}  # of struct, by a float's width

_Check = Callable[[Value, Function, Module], str | None]


def exact(kind: Scalar, attr: object) -> bool:
    """Whether a Python constant is a value of the type, with no rounding and no wrapping."""
    if kind is bool_:
        return isinstance(attr, bool)
    if kind.is_float:
        return isinstance(attr, float) and (kind.bits == 64 or attr != attr or _rounded(kind, attr) == attr)
    low = 0 if kind.kind is Kind.UINT else -1 << (kind.bits - 1)
    return type(attr) is int and low <= attr < low + (1 << kind.bits)


def _rounded(kind: Scalar, number: float) -> float:
    form = _FORMATS[kind.bits]
    try:
        rounded: float = struct.unpack(form, struct.pack(form, number))[0]
    except OverflowError:  # it is beyond the largest finite one
        return math.copysign(math.inf, number)
    return rounded


def _const(value: Value, _f: Function, _m: Module) -> str | None:
    if isinstance(value.type, Scalar) and exact(value.type, value.attr):
        return None
    return f"{value.attr!r} is not a constant of type {value.type!r}"


def _tid(value: Value, _f: Function, _m: Module) -> str | None:
    return None if value.type is int32 and value.attr in (0, 1, 2, 3) else "a thread's coordinate is i32, one of four"


def _select(value: Value, _f: Function, _m: Module) -> str | None:
    condition, yes, no = (arg.type for arg in value.args)
    return None if condition is bool_ and yes == no == value.type else f"selects {yes!r} or {no!r} by {condition!r}"


def _cast(value: Value, _f: Function, _m: Module) -> str | None:
    to, source = _uniform(value.type), _uniform(value.args[0].type)
    if to is None or source is None or len(leaves(value.type)) != len(leaves(value.args[0].type)):
        return "changes the number of components"
    return "makes an address" if to is pointer and source is not pointer else None


def _bitcast(value: Value, _f: Function, _m: Module) -> str | None:
    to, source = _uniform(value.type), _uniform(value.args[0].type)
    if to is None or source is None:
        return "is not of one scalar"
    wide = to.bits == source.bits and len(leaves(value.type)) == len(leaves(value.args[0].type))
    return None if wide and to is not bool_ else "changes the width"


def _make(value: Value, _f: Function, _m: Module) -> str | None:
    given = [leaf.scalar for arg in value.args for leaf in leaves(arg.type)]
    whole = given == [leaf.scalar for leaf in leaves(value.type)]
    return None if whole else f"{[arg.type for arg in value.args]} do not make a {value.type!r}"


def _extract(value: Value, _f: Function, _m: Module) -> str | None:
    source, first = value.args[0].type, value.attr
    if type(first) is int and first >= 0:
        wanted = [leaf.scalar for leaf in leaves(value.type)]
        if wanted and [leaf.scalar for leaf in leaves(source)[first : first + len(wanted)]] == wanted:
            return None
    return f"leaf {first!r} of {source!r} as {value.type!r}"


def _offset(value: Value, _f: Function, _m: Module) -> str | None:
    base, steps = value.args[0].type, value.args[1].type
    moves = base is pointer and value.type is pointer and isinstance(steps, Scalar) and steps.is_integer
    return None if moves and type(value.attr) is int else f"moves {base!r} by {steps!r} times {value.attr!r}"


def _memory(value: Value, _f: Function, _m: Module) -> str | None:
    at = value.args[0].type
    if at is not pointer or type(value.attr) is not int or value.attr < 0:
        return f"is at byte {value.attr!r} of {at!r}"
    return None


def _site(value: Value, function: Function, _m: Module) -> str | None:
    known = type(value.attr) is int and 0 <= value.attr < len(function.sites)
    if not known:
        return f"site {value.attr!r} is not one of the function's {len(function.sites)}"
    return None if isinstance(value.args[0].type, Scalar) else "checks more than a scalar"


def _check(value: Value, function: Function, _m: Module) -> str | None:
    condition, *told = [arg.type for arg in value.args] or [None]
    if condition is not bool_ or len(told) not in (0, 2) or not all(isinstance(kind, Scalar) for kind in told):
        return f"takes a bool, and the two scalars that it tells or none, not {[arg.type for arg in value.args]}"
    return _site(value, function, _m)


def _print(value: Value, function: Function, _m: Module) -> str | None:
    if type(value.attr) is not int or not 0 <= value.attr < len(function.sites):
        return f"site {value.attr!r} is not one of the function's {len(function.sites)}"
    words = all(isinstance(arg.type, Scalar) and arg.type.bits == 64 for arg in value.args)
    return None if words else f"prints {[arg.type for arg in value.args]}, which are not words of 64 bits"


def _call(value: Value, _f: Function, module: Module) -> str | None:
    callee = module.functions.get(str(value.attr))
    if callee is None:
        return f"calls '{value.attr}', which does not exist"
    wanted: list[Type | None] = [param.type for param in callee.params]
    if [arg.type for arg in value.args] != wanted:
        return f"passes {[arg.type for arg in value.args]} to '{value.attr}', which takes {wanted}"
    given: object = Tuple(callee.results) if len(callee.results) > 1 else None
    if len(callee.results) == 1:
        (given,) = callee.results
    return None if given == value.type else f"takes {value.type!r} from {callee.results}"


def _return(value: Value, function: Function, _m: Module) -> str | None:
    given = tuple(arg.type for arg in value.args)
    return None if given == function.results else f"returns {given} where {function.results} is declared"


def _branch(value: Value, _f: Function, _m: Module) -> str | None:
    return None if isinstance(value.args[0].type, Scalar) else "branches on more than a scalar"


def leaves(kind: Type | None) -> tuple[Leaf, ...]:
    """The leaves of a type; none where there is no value."""
    return () if kind is None else kind.leaves


def _uniform(kind: Type | None) -> Scalar | None:
    """The one scalar that a type is made of, if it is."""
    scalars = {leaf.scalar for leaf in leaves(kind)}
    return scalars.pop() if len(scalars) == 1 else None


def _atomic(value: Value, _f: Function, _m: Module) -> str | None:
    row = ATOMICS.get(str(value.attr))
    types = [arg.type for arg in value.args]
    if row is None or types != [pointer, *[value.type] * row.operands] or not isinstance(value.type, Scalar):
        return f"changes {types} by {value.attr!r} as {value.type!r}"
    return None if row.takes(value.type) else f"does not take {value.type!r}"


RULES: dict[Op, _Check] = {
    Op.CONST: _const,
    Op.TID: _tid,
    Op.SELECT: _select,
    Op.CAST: _cast,
    Op.BITCAST: _bitcast,
    Op.RAW: _bitcast,
    Op.MAKE: _make,
    Op.EXTRACT: _extract,
    Op.OFFSET: _offset,
    Op.LOAD: _memory,
    Op.STORE: _memory,
    Op.ATOMIC: _atomic,
    Op.BOUNDS: _site,
    Op.CHECK: _check,
    Op.PRINT: _print,
    Op.CALL: _call,
    Op.BRANCH: _branch,
    Op.RETURN: _return,
}
