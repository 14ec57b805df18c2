"""Runs an ir.Module for one thread on numpy scalars: slow, plain, and the oracle for passes and back ends.

A value of several leaves is a tuple of them: numpy scalars, and addresses, which are a numpy array of bytes and a place
in it. An array that is passed is a numpy array whose last axis holds a vector's components.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sim_node.compiler.ir.function import Function, Module, Site, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar

STEPS = 1_000_000


@dataclass(frozen=True)
class Address:
    """A place in memory."""

    memory: np.ndarray[Any, Any]
    place: int


class Stopped(Exception):
    """The thread stopped itself at a site."""

    def __init__(self, site: Site, index: Any = 0, length: Any = 0) -> None:
        self.site, self.index, self.length = site, index, length
        super().__init__(f"{site.kind}: {site.subject} [{index}] of {length}")


def run(module: Module, args: list[Any], thread: int = 0) -> Any:
    """Run one thread of the kernel on arrays, which it changes, and scalars."""
    with np.errstate(all="ignore"):
        return _call(module, module.entry, list(args), thread)


def _call(module: Module, function: Function, args: list[Any], thread: int) -> Any:
    values: dict[Value, Any] = {}
    for param, arg in zip(function.params, args, strict=True):
        values[param] = _held(param.type, arg)
    blocks = {block.label: block for block in function.blocks}
    block = function.blocks[0]
    for _ in range(STEPS):
        for value in block.body:
            operands = [values[arg] for arg in value.args]
            values[value] = _compute(module, function, value, operands, thread)
        if block.end.op is Op.RETURN:
            results = tuple(values[arg] for arg in block.end.args)
            return results if len(results) > 1 else results[0] if results else None
        edge = block.edges[0] if block.end.op is Op.JUMP or values[block.end.args[0]] else block.edges[1]
        block = blocks[edge.target]
        arrived = [values[arg] for arg in edge.args]
        values.update(zip(block.params, arrived, strict=True))
    raise AssertionError("the thread does not end")


def _held(type: Any, arg: Any) -> Any:
    if isinstance(type, Scalar):
        return type.numpy.type(arg)
    if isinstance(arg, tuple):
        return arg
    if isinstance(type, ArrayType):
        return (Address(arg.reshape(-1).view(np.uint8), 0), *map(np.int32, arg.shape[: type.ndim]))
    return tuple(np.asarray(arg, type.numpy).reshape(-1))


def _compute(module: Module, function: Function, value: Value, operands: list[Any], thread: int) -> Any:
    op = value.op
    if op is Op.TID:
        return np.int32(thread)
    if op is Op.CALL:
        return _call(module, module.functions[str(value.attr)], operands, thread)
    if op is Op.BOUNDS:
        index, length = operands
        if not 0 <= index < length:
            raise Stopped(function.sites[int(value.attr)], int(index), int(length))
        return index
    if op is Op.CHECK:
        if not operands[0]:
            raise Stopped(function.sites[int(value.attr)], *operands[1:])
        return None
    if op in _PLAIN:
        result = _elementwise(_PLAIN[op], operands)
        return _typed(value.type, result)
    return _OTHER[op](value, *operands)


def _elementwise(compute: Callable[..., Any], operands: list[Any]) -> Any:
    if any(isinstance(operand, tuple) for operand in operands):
        return tuple(compute(*parts) for parts in zip(*operands, strict=True))
    return compute(*operands)


def _typed(type: Any, result: Any) -> Any:
    # numpy turns some results into another type (bool minus, shifts): the IR says which one it is
    if isinstance(result, tuple):
        assert all(part.dtype == type.numpy for part in result)
        return result
    assert np.asarray(result).dtype == type.numpy, (type, np.asarray(result).dtype)
    return result


def _rem(a: Any, b: Any) -> Any:
    assert b != 0
    assert not (b == -1 and np.iinfo(a.dtype).min == a), "the machine traps here"
    return np.fmod(a, b)


def _quot(a: Any, b: Any) -> Any:
    return (a - _rem(a, b)) // b


def _minimum(a: Any, b: Any) -> Any:
    if a != a or b != b:
        return a if b != b else b
    return a if a < b or (a == b and np.signbit(a)) else b


def _maximum(a: Any, b: Any) -> Any:
    if a != a or b != b:
        return a if b != b else b
    return a if a > b or (a == b and not np.signbit(a)) else b


def _shift(compute: Callable[..., Any], a: Any, b: Any) -> Any:
    return compute(a, b & a.dtype.type(a.dtype.itemsize * 8 - 1))


_PLAIN: dict[Op, Callable[..., Any]] = {
    Op.ADD: operator.add, Op.SUB: operator.sub, Op.MUL: operator.mul, Op.DIV: operator.truediv,
    Op.QUOT: _quot, Op.REM: _rem, Op.NEG: operator.neg, Op.ABS: np.abs, Op.MIN: _minimum, Op.MAX: _maximum,
    Op.SQRT: np.sqrt, Op.FLOOR: np.floor, Op.CEIL: np.ceil, Op.TRUNC: np.trunc, Op.RINT: np.rint,
    Op.AND: operator.and_, Op.OR: operator.or_, Op.XOR: operator.xor, Op.INVERT: np.invert,
    Op.SHL: partial(_shift, operator.lshift), Op.SHR: partial(_shift, operator.rshift),
    Op.EQ: operator.eq, Op.NE: operator.ne, Op.LT: operator.lt, Op.LE: operator.le, Op.GT: operator.gt,
    Op.GE: operator.ge,
}  # fmt: skip


def cast(value: Any, target: Scalar) -> Any:
    """Convert by value: float to integer truncates and saturates, NaN becomes 0; integers wrap."""
    if not (target.is_integer and value.dtype.kind == "f"):
        return value.astype(target.numpy)
    if np.isnan(value):
        return target.numpy.type(0)
    limits = np.iinfo(target.numpy)
    whole = limits.max if value == np.inf else limits.min if value == -np.inf else int(value)
    return target.numpy.type(min(max(whole, limits.min), limits.max))


def bits(value: Any, target: Scalar) -> Any:
    """Take the bits as another type; NaN is canonical on the way out of float."""
    if value.dtype.kind == "f" and np.isnan(value):
        value = np.abs(value.dtype.type(np.nan))
    return value.view(target.numpy)


def _extract(value: Value, whole: Any) -> Any:
    leaves = whole[value.attr : value.attr + len(value.type.leaves)]
    return leaves[0] if isinstance(value.type, Scalar) else leaves


def _spot(at: Address, offset: int, scalar: Scalar) -> Any:
    place = at.place + offset
    return at.memory[place : place + scalar.size].view(scalar.numpy)


def _load(value: Value, at: Address) -> Any:
    leaves = tuple(_spot(at, value.attr + leaf.offset, leaf.scalar)[0] for leaf in value.type.leaves)
    return leaves[0] if isinstance(value.type, Scalar) else leaves


def _store(value: Value, at: Address, stored: Any) -> None:
    type = value.args[1].type
    for leaf, part in zip(type.leaves, stored if isinstance(stored, tuple) else (stored,), strict=True):
        _spot(at, value.attr + leaf.offset, leaf.scalar)[0] = part


_OTHER: dict[Op, Callable[..., Any]] = {
    Op.CONST: lambda value: value.type.numpy.type(value.attr),
    Op.SELECT: lambda _, condition, true, false: true if condition else false,
    Op.CAST: lambda value, operand: cast(operand, value.type),
    Op.BITCAST: lambda value, operand: bits(operand, value.type),
    Op.MAKE: lambda _, *parts: sum((part if type(part) is tuple else (part,) for part in parts), ()),
    Op.EXTRACT: _extract,
    Op.OFFSET: lambda value, at, steps: Address(at.memory, at.place + int(steps) * value.attr),
    Op.LOAD: _load,
    Op.STORE: _store,
}
