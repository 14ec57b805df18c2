"""Guards of ``guards="clamp"``: what a step too long makes stays bounded, and contacts push and never pull.

An update is a store of ``x + t`` where x was loaded from the same index and t is a product or quotient, such as
``x + dt * v``. NaN becomes the x that was loaded, and whatever is beyond LIMIT becomes LIMIT. A contact is a sum of
products under a comparison with what it pushes back, such as ``-k * x - c * v`` where ``x < 0``. Where the damping
would turn the sign of the spring, it is 0; stiffness counts as positive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.rebuild import each, rebuild
from sim_node.dtypes import Scalar, bool_

LIMIT = 1e9  # of positions and velocities in SI units, nothing that is simulated is there; a f16 ends before it

_BELOW = {Op.LT: -1, Op.LE: -1, Op.GT: 1, Op.GE: 1}  # the sign of first - second where the comparison holds


def guard(module: Module) -> Module:
    """Return a module of scalars with its guards."""
    return each(module, _function)


def _function(function: Function) -> Function:
    found = _Guards(function)
    walked = (value for block in cfg.reverse_postorder(function) for value in block.body)  # as rebuild walks

    def rule(value: Value, _label: str) -> Value:
        original = next(walked)
        if original in found.contacts:
            return _saturated(value, found.contacts[original])
        if original in found.updates:
            return _clamped(value, value.args[found.updates[original]])
        return value

    return rebuild(function, rule)


def _clamped(value: Value, old: Value) -> Value:
    kind = value.type
    assert isinstance(kind, Scalar)
    limit = float(min(LIMIT, float(np.finfo(kind.numpy).max)))
    high, low = (Value(Op.CONST, kind, attr=kind(sign * limit).item(), location=value.location) for sign in (1, -1))
    least = Value(Op.MIN, kind, (value, high), location=value.location)
    bounded = Value(Op.MAX, kind, (least, low), location=value.location)
    number = Value(Op.EQ, bool_, (value, value), location=value.location)
    return Value(Op.SELECT, kind, (number, bounded, old), location=value.location)


def _saturated(value: Value, sign: int) -> Value:
    zero = Value(Op.CONST, value.type, attr=0.0, location=value.location)
    return Value(Op.MAX if sign > 0 else Op.MIN, value.type, (value, zero), location=value.location)


class _Guards:
    """What is to be guarded: updates, with the operand that is the old value, and contacts, with the spring's sign."""

    def __init__(self, function: Function) -> None:
        self.keys: dict[Value, int] = {}
        self._numbers: dict[Hashable, int] = {}
        self.updates: dict[Value, int] = {}
        self.contacts: dict[Value, int] = {}
        self._stores = 0
        blocks = cfg.reverse_postorder(function)
        before = cfg.predecessors(blocks)
        uses = Counter(arg for block in blocks for value in (*block.body, block.end) for arg in value.args)
        uses.update(arg for block in blocks for edge in block.edges for arg in edge.args)
        for block in blocks:
            for value in block.body:
                self._key(value)
                if value.op is Op.STORE:
                    self._update(value)
                    self._stores += 1
                if value.op is Op.SELECT and all(uses[side] == 1 for side in value.args[1:] if side.op is not Op.CONST):
                    for side, holds in ((1, True), (2, False)):
                        self._contact(value.args[side], value.args[0], holds)
            sources = before[block.label]
            if len(sources) == 1 and len(sources[0].edges) == 2:
                holds = sources[0].edges[0].target == block.label
                for value in block.body:
                    self._contact(value, sources[0].end.args[0], holds)

    def _update(self, store: Value) -> None:
        address, value = store.args
        if value.op not in (Op.ADD, Op.SUB) or not _is_float(value):
            return
        for at in (0, 1) if value.op is Op.ADD else (0,):
            old, change = value.args[at], value.args[1 - at]
            loaded = old.op is Op.LOAD and old.attr == store.attr and self._index(old.args[0]) == self._index(address)
            if loaded and change.op in (Op.MUL, Op.DIV):
                self.updates[value] = at

    def _index(self, address: Value) -> Hashable:
        return (self._key(address.args[1]), address.attr) if address.op is Op.OFFSET else ()

    def _contact(self, force: Value, condition: Value, holds: bool) -> None:
        """Note a force whose terms are all products, one of them with what the condition says the sign of."""
        if force.op not in (Op.ADD, Op.SUB) or not _is_float(force) or condition.op not in _BELOW:
            return
        first, second = condition.args
        sign = _BELOW[condition.op] * (1 if holds else -1)
        signs = {self._number((Op.SUB, self._key(first), self._key(second))): sign,
                 self._number((Op.SUB, self._key(second), self._key(first))): -sign}  # fmt: skip
        if second.op is Op.CONST and second.attr == 0:
            signs[self._key(first)] = sign
        terms = _terms(force, 1)
        found = [self._spring(term, way, signs) for term, way in terms]
        springs = [one for one in found if one]
        if len(springs) == 1 and len(terms) > 1 and all(term.op in (Op.MUL, Op.DIV) for term, _ in terms):
            self.contacts[force] = springs[0]

    def _spring(self, term: Value, way: int, signs: dict[int, int]) -> int:
        """The sign of a product with what the condition is about; 0 for another."""
        pushed, sign = 0, way
        for factor in _factors(term):
            while factor.op is Op.NEG and self._key(factor) not in signs:
                factor, sign = factor.args[0], -sign
            if factor.op is Op.CONST and isinstance(factor.attr, float) and factor.attr < 0.0:
                sign = -sign
            pushed = pushed or signs.get(self._key(factor), 0)
        return pushed * sign

    def _key(self, value: Value) -> int:
        """The same number for what is written the same; loads of an element between two stores count as one."""
        if value not in self.keys:
            if value.op is Op.LOAD:
                self.keys[value] = self._number((value.op, value.attr, self._key(value.args[0]), self._stores))
            elif value.op is Op.BOUNDS:
                self.keys[value] = self._key(value.args[0])
            elif value.args:
                self.keys[value] = self._number((value.op, *([] if value.attr is None else [value.attr]),
                                                 *(self._key(arg) for arg in value.args)))  # fmt: skip
            elif value.op in (Op.CONST, Op.TID):
                self.keys[value] = self._number((value.op, value.type, value.attr))
            else:
                self.keys[value] = self._number(value)
        return self.keys[value]

    def _number(self, expression: Hashable) -> int:
        return self._numbers.setdefault(expression, len(self._numbers))


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_float


def _terms(value: Value, sign: int) -> list[tuple[Value, int]]:
    if value.op is Op.NEG:
        return _terms(value.args[0], -sign)
    if value.op in (Op.ADD, Op.SUB):
        return _terms(value.args[0], sign) + _terms(value.args[1], sign if value.op is Op.ADD else -sign)
    return [(value, sign)]


def _factors(value: Value) -> list[Value]:
    if value.op is Op.MUL:
        return _factors(value.args[0]) + _factors(value.args[1])
    return _factors(value.args[0]) if value.op is Op.DIV else [value]
