"""What each op demands beyond its signature: one rule an op, returning the fault or None."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar, Tuple, Type, Vector, bool_, int32

_Check = Callable[[Value, Function, Module], str | None]


def exact(kind: Scalar, attr: object) -> bool:
    """Whether a Python constant is a value of the type, with no rounding and no wrapping."""
    if kind is bool_:
        return isinstance(attr, bool)
    if kind.is_float:
        with np.errstate(over="ignore"):
            return isinstance(attr, float) and (attr != attr or float(kind(attr)) == attr)
    limits = np.iinfo(kind.numpy)
    return isinstance(attr, int) and not isinstance(attr, bool) and limits.min <= attr <= limits.max


def _const(value: Value, _f: Function, _m: Module) -> str | None:
    if isinstance(value.type, Scalar) and exact(value.type, value.attr):
        return None
    return f"{value.attr!r} is not a constant of type {value.type!r}"


def _tid(value: Value, _f: Function, _m: Module) -> str | None:
    return None if value.type is int32 else "a thread's index is i32"


def _select(value: Value, _f: Function, _m: Module) -> str | None:
    condition, yes, no = (arg.type for arg in value.args)
    return None if condition is bool_ and yes == no == value.type else f"selects {yes!r} or {no!r} by {condition!r}"


def _cast(value: Value, _f: Function, _m: Module) -> str | None:
    return None if _length(value.type) == _length(value.args[0].type) else "changes the number of components"


def _bitcast(value: Value, _f: Function, _m: Module) -> str | None:
    to, source = value.type, value.args[0].type
    if isinstance(to, (Scalar, Vector)) and isinstance(source, (Scalar, Vector)):
        wide = to.scalar.bits == source.scalar.bits
        return None if wide and to.length == source.length and to.scalar is not bool_ else "changes the width"
    return "is not an element"


def _vector(value: Value, _f: Function, _m: Module) -> str | None:
    kind = value.type
    whole = isinstance(kind, Vector) and [a.type for a in value.args] == [kind.scalar] * kind.length
    return None if whole else f"components {[a.type for a in value.args]} do not make a {kind!r}"


def _extract(value: Value, _f: Function, _m: Module) -> str | None:
    source: object = value.args[0].type
    if isinstance(source, Tuple):
        return None if value.type == source.items[value.number] else f"takes {value.type!r} out of {source!r}"
    if isinstance(source, Vector) and _component(source, value.attr) and value.type == source.scalar:
        return None
    return f"component {value.attr!r} of {source!r} as {value.type!r}"


def _array(value: Value) -> str | None:
    """The first operand is an array and the second an index; the element or component is ``value`` or the third."""
    array, index = value.args[0].type, value.args[1].type
    item = value.type if value.op is Op.LOAD else value.args[2].type
    if not isinstance(array, ArrayType) or not isinstance(index, Scalar) or not index.is_integer:
        return f"indexes {array!r} with {index!r}"
    if value.attr is None:
        return None if item == array.dtype else f"moves {item!r} where elements are {array.dtype!r}"
    whole = isinstance(array.dtype, Vector) and _component(array.dtype, value.attr) and item == array.dtype.scalar
    return None if whole else f"component {value.attr!r} of {array.dtype!r} as {item!r}"


def _length_of(value: Value, _f: Function, _m: Module) -> str | None:
    source = value.args[0].type
    return None if isinstance(source, ArrayType) and value.type is int32 else f"length of {source!r} as {value.type!r}"


def _site(value: Value, function: Function, _m: Module) -> str | None:
    known = type(value.attr) is int and 0 <= value.attr < len(function.sites)
    if not known:
        return f"site {value.attr!r} is not one of the function's {len(function.sites)}"
    return "checks a vector" if value.args and isinstance(value.args[0].type, Vector) else None


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
    return "branches on a vector" if isinstance(value.args[0].type, Vector) else None


def _length(kind: Type | None) -> int:
    return kind.length if isinstance(kind, (Scalar, Vector)) else 0


def _component(kind: Vector, attr: object) -> bool:
    return type(attr) is int and 0 <= attr < kind.length


RULES: dict[Op, _Check] = {
    Op.CONST: _const,
    Op.TID: _tid,
    Op.SELECT: _select,
    Op.CAST: _cast,
    Op.BITCAST: _bitcast,
    Op.RAW: _bitcast,
    Op.VECTOR: _vector,
    Op.EXTRACT: _extract,
    Op.LENGTH: _length_of,
    Op.LOAD: lambda value, _f, _m: _array(value),
    Op.STORE: lambda value, _f, _m: _array(value),
    Op.BOUNDS: _site,
    Op.CHECK: _site,
    Op.CALL: _call,
    Op.BRANCH: _branch,
    Op.RETURN: _return,
}
