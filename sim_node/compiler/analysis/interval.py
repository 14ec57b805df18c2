"""Between which constants each integer of a function lies, in every run: a walk forward, once, with no widening.

What a loop carries round may be anything of its type here; what is known of it beyond that is for a proof to find.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sim_node.compiler.analysis.polynomial import Interval
from sim_node.compiler.ir.function import Block, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import ArrayType, Scalar, Type, bool_

BOOL: Interval = (0, 1)
COORDINATE: Interval = (0, 2**31 - 2)  # a dim is below 2^31
EXTENT: Interval = (0, 2**31 - 1)


def whole(kind: Type | None) -> Interval | None:
    """All values of a type of integers, or of truth; None for any other."""
    if kind is bool_:
        return BOOL
    if not isinstance(kind, Scalar) or not kind.is_integer:
        return None
    limits = np.iinfo(kind.numpy)
    return int(limits.min), int(limits.max)


def intervals(order: list[Block]) -> dict[Value, Interval]:
    """Give the interval of every integer and truth value, of blocks in reverse postorder."""
    passed: dict[Value, list[Value]] = {param: [] for block in order for param in block.params}
    params = {block.label: block.params for block in order}
    for block in order:
        for edge in block.edges:
            for param, arg in zip(params[edge.target], edge.args):
                passed[param].append(arg)
    found: dict[Value, Interval] = {}
    for block in order:
        for value in (*block.params, *block.body):
            every = whole(value.type)
            if every is not None:
                found[value] = _limited(_computed(value, found, passed.get(value, [])), every)
    return found


def _limited(ends: Interval | None, every: Interval) -> Interval:
    """What wraps may be anything."""
    return ends if ends is not None and every[0] <= ends[0] and ends[1] <= every[1] else every


def _computed(value: Value, found: Mapping[Value, Interval], passed: list[Value]) -> Interval | None:
    if value.op is Op.CONST:
        return (int(value.attr), int(value.attr))  # type: ignore[arg-type]
    if value.op is Op.TID:
        return COORDINATE
    if value.op is Op.EXTRACT:
        kind = value.args[0].type
        return EXTENT if isinstance(kind, ArrayType) and 1 <= value.number <= kind.ndim else None
    if value.op is Op.ARG:
        return _joined([_interval(arg, found) for arg in passed])
    if value.op is Op.SELECT:
        return _joined([_interval(arg, found) for arg in value.args[1:]])
    row = _ROWS.get(value.op)
    operands = [_interval(arg, found) for arg in value.args]
    known = [ends for ends in operands if ends is not None]
    if value.op is Op.SHR and isinstance(value.type, Scalar) and len(known) == 2:
        known[1] = _count(known[1], value.type)
    return row(*known) if row is not None and known and len(known) == len(operands) else None


def _interval(value: Value, found: Mapping[Value, Interval]) -> Interval | None:
    """That of a parameter of the kernel is all of its type; None for what comes later, and for what is no integer."""
    return found.get(value) or (whole(value.type) if value.op is Op.PARAM else None)


def _joined(ends: list[Interval | None]) -> Interval | None:
    known = [each for each in ends if each is not None]
    if not known or len(known) < len(ends):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _product(a: Interval, b: Interval) -> Interval:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _quotient(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0:
        return None
    ends = [(abs(x) // y) * (-1 if x < 0 else 1) for x in a for y in b]
    return min(*ends, 0) if a[0] < 0 < a[1] else min(ends), max(ends)


def _remainder(a: Interval, b: Interval) -> Interval:
    most = max(abs(b[0]), abs(b[1])) - 1
    return (0 if a[0] >= 0 else max(-most, a[0])), (0 if a[1] <= 0 else min(most, a[1]))


def _and(a: Interval, b: Interval) -> Interval | None:
    tops = [high for low, high in (a, b) if low >= 0]
    return (0, min(tops)) if tops else None


def _count(ends: Interval, kind: Scalar) -> Interval:
    """How far a shift by one count goes: by its lowest bits, as many as number those of the type."""
    return (ends[0] & (kind.bits - 1),) * 2 if ends[0] == ends[1] else ends


def _right(a: Interval, b: Interval) -> Interval | None:
    return (a[0] >> b[0], a[1] >> b[0]) if b[0] == b[1] else None


def _absolute(a: Interval) -> Interval:
    return (0 if a[0] <= 0 <= a[1] else min(abs(a[0]), abs(a[1]))), max(abs(a[0]), abs(a[1]))


def _truth(least: bool, most: bool) -> Interval:
    """One that holds in each case, or in no case."""
    return (1, 1) if least else (0, 0) if not most else BOOL


def _less(a: Interval, b: Interval) -> Interval:
    return _truth(a[1] < b[0], a[0] < b[1])


def _at_most(a: Interval, b: Interval) -> Interval:
    return _truth(a[1] <= b[0], a[0] <= b[1])


def _equal(a: Interval, b: Interval) -> Interval:
    return _truth(a[0] == a[1] == b[0] == b[1], a[0] <= b[1] and b[0] <= a[1])


def _not(a: Interval) -> Interval:
    return 1 - a[1], 1 - a[0]


_ROWS: dict[Op, Callable[..., Interval | None]] = {
    Op.ADD: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    Op.SUB: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    Op.NEG: lambda a: (-a[1], -a[0]),
    Op.MUL: _product,
    Op.QUOT: _quotient,
    Op.REM: _remainder,
    Op.MIN: lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    Op.MAX: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    Op.ABS: _absolute,
    Op.AND: _and,
    Op.SHR: _right,
    Op.CAST: lambda a: a,
    Op.BOUNDS: lambda a, b: (max(a[0], 0), max(min(a[1], b[1] - 1), 0)),
    Op.LT: _less,
    Op.GT: lambda a, b: _less(b, a),
    Op.LE: _at_most,
    Op.GE: lambda a, b: _at_most(b, a),
    Op.EQ: _equal,
    Op.NE: lambda a, b: _not(_equal(a, b)),
}
