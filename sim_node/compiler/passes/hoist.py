"""Splits a kernel for a target that runs threads row by row: checks that a whole row passes leave its loop.

A row is the threads of a launch that differ in their last coordinate only. Of each row ``safe`` names threads that pass
all checks whose premises a launch can tell; they run ``free``, which is without those checks. The others, few or none,
run the kernel as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sim_node.compiler.analysis.facts import Spot
from sim_node.compiler.analysis.polynomial import Polynomial
from sim_node.compiler.analysis.premise import NEVER, All, AtMost, Either, Holds, Premise, both
from sim_node.compiler.analysis.proof import Check, Prover
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Attr, Block, Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.cse import cse
from sim_node.compiler.passes.dce import dce
from sim_node.compiler.passes.fold import fold
from sim_node.compiler.passes.ranges import is_check, replaced
from sim_node.compiler.passes.rebuild import with_args
from sim_node.dtypes import Type, bool_, int32, int64

FREE, SAFE = "free", "safe"

_Range = tuple[Value, Value]  # of last coordinates, i64, the end not included


@dataclass(frozen=True, slots=True)
class Rows:
    """A kernel split.

    ``free`` is the kernel without the checks of ``sites``. ``safe`` takes the kernel's parameters and the range of
    last coordinates of a row, and returns that of the threads to run free: from one coordinate, not including the
    other, between the two that were given. Where ``certain``, every thread comes to each of these checks, so one that
    is not safe stops.
    """

    free: Function
    safe: Function
    sites: frozenset[int]
    certain: bool


def hoist(function: Function) -> Rows | None:
    """Split an optimised kernel; None where no check's premise can be told before its threads run."""
    checks = [value for block in function.blocks for value in block.body if is_check(value)]
    if not checks:
        return None
    prover = Prover(function)
    found: dict[Value, Check] = {}
    for block in prover.order:
        for position, value in enumerate(block.body):
            if is_check(value):
                check = prover.check(value, Spot(block.label, position))
                if check.premise != NEVER:
                    found[value] = check
    if not found:
        return None
    free = _free(function, found)
    safe = _Safe(function, prover).function(both(check.premise for check in found.values()))
    short = cse(fold(Module(FREE, {SAFE: safe})))  # the other is as the passes left it, but for its checks
    module = verify(dce(Module(FREE, {FREE: free, **short.functions})), "hoist")
    sites = frozenset(value.number for value in found)
    passed = cfg.passed_by_all(prover.order)
    certain = sites <= {value.number for block in passed for value in block.body if value in found}
    return Rows(module.entry, module.functions[SAFE], sites, certain)


def _free(function: Function, found: dict[Value, Check]) -> Function:
    """Drop the checks; what steps from an address becomes an i64 there, of which a target sees that it cannot wrap."""
    origin: dict[Value, Value] = {}

    def change(original: Value, value: Value) -> Value | None:
        origin[value] = original
        if original in found:
            return value.args[0] if value.op is Op.BOUNDS else None
        if value.op is Op.OFFSET and original.args[1] in found:
            return with_args(value, (value.args[0], _widened(value.args[1], found[original.args[1]], origin)))
        if value.op is Op.CAST and value.type is int64 and original.args[0] in found:
            return _widened(value.args[0], found[original.args[0]], origin)
        return value

    return replaced(replace(function, name=FREE), change)


def _widened(value: Value, check: Check, origin: dict[Value, Value]) -> Value:
    """Compute a value that is an index in i64, as far as the sums in it are known not to wrap."""
    if origin.get(value, value) in check.sums and value.op is not Op.BOUNDS:
        args = tuple(_widened(arg, check, origin) for arg in value.args)
        return args[0] if value.op is Op.CAST else Value(value.op, int64, args, location=value.location)
    return value if value.type is int64 else Value(Op.CAST, int64, (value,), location=value.location)


class _Safe:
    """The lines of ``safe``: straight on, without a branch."""

    def __init__(self, function: Function, prover: Prover) -> None:
        self.prover = prover
        last = max(function.dims, 1) - 1
        self.along = next((n for v, n in prover.numbers.items() if v.op is Op.TID and v.number == last), None)
        self.params = tuple(Value(Op.PARAM, int32, attr=len(function.params) + i) for i in range(2))
        self.known: dict[Value, Value] = {param: param for param in function.params}
        self.body: list[Value] = []
        self.given = function

    def function(self, premise: Premise) -> Function:
        """The whole of it, for the premises of all checks."""
        begin, end = (self.op(Op.CAST, int64, param) for param in self.params)
        self.row = (begin, end)
        first, after = self.range(premise)
        first = self.op(Op.MIN, int64, self.op(Op.MAX, int64, first, begin), end)
        after = self.op(Op.MIN, int64, self.op(Op.MAX, int64, after, first), end)
        results = tuple(self.op(Op.CAST, int32, value) for value in (first, after))
        block = Block("b0", (), tuple(self.body), Value(Op.RETURN, None, results))
        given = self.given
        names = (*given.names, "begin", "end")
        return Function(SAFE, (*given.params, *self.params), names, (int32, int32), (block,), dims=given.dims)

    def range(self, premise: Premise) -> _Range:
        """The coordinates for which a premise is known to hold."""
        match premise:
            case AtMost(polynomial):
                return self.at_most(polynomial)
            case Holds(number, truth):
                value = self.copied(self.prover.values[number])
                return self.if_(value if truth else self.op(Op.INVERT, bool_, value))
            case All(parts):
                ranges = [self.range(part) for part in parts] or [self.row]
                return self.joined(Op.MAX, [r[0] for r in ranges]), self.joined(Op.MIN, [r[1] for r in ranges])
            case Either(parts):
                ranges = [self.range(part) for part in parts]
                best = ranges[0]
                for other in ranges[1:]:
                    best = self.longer(best, other)
                return best

    def at_most(self, polynomial: Polynomial) -> _Range:
        """Where it is at most 0: a half-line where the coordinate stands alone, else all of the row or nothing."""
        begin, end = self.row
        split = (Polynomial(), polynomial) if self.along is None else polynomial.split(self.along)
        assert split is not None, "a coordinate is not squared"
        factor, rest = split
        if not factor.terms:
            return self.if_(self.op(Op.LE, bool_, self.sum(rest), self.number(0)))
        by = factor.constant
        if by is None:  # a straight line is at most 0 between two places where it is
            last = self.op(Op.SUB, int64, end, self.number(1))
            both = [
                self.op(Op.LE, bool_, self.sum(rest, self.op(Op.MUL, int64, self.sum(factor), t)), self.number(0))
                for t in (begin, last)
            ]
            return self.if_(self.op(Op.AND, bool_, *both))
        zero, one, limit = self.number(0), self.number(1), self.sum(rest.scaled(-1) if by > 0 else rest)
        if by > 0:  # t is at most -rest / by
            quotient = limit if by == 1 else self.op(Op.QUOT, int64, limit, self.number(by))
            after = self.op(Op.ADD, int64, quotient, one)
            none = self.op(Op.LT, bool_, limit, zero)
            return begin, after if by == 1 else self.op(Op.SELECT, int64, none, zero, after)
        if by == -1:
            return limit, end
        up = self.op(Op.ADD, int64, self.op(Op.MAX, int64, limit, zero), self.number(-by - 1))
        return self.op(Op.QUOT, int64, up, self.number(-by)), end

    def if_(self, condition: Value) -> _Range:
        """All of the row, or nothing of it."""
        begin, end = self.row
        return begin, self.op(Op.SELECT, int64, condition, end, begin)

    def longer(self, some: _Range, other: _Range) -> _Range:
        """The one of more coordinates."""
        lengths = [self.op(Op.SUB, int64, after, first) for first, after in (some, other)]
        wins = self.op(Op.GE, bool_, *lengths)
        first, after = (self.op(Op.SELECT, int64, wins, a, b) for a, b in zip(some, other))
        return first, after

    def joined(self, op: Op, values: list[Value]) -> Value:
        """One value out of several."""
        result = values[0]
        for value in values[1:]:
            result = self.op(op, int64, result, value)
        return result

    def sum(self, polynomial: Polynomial, total: Value | None = None) -> Value:
        """Compute a polynomial, in i64."""
        for monomial, by in sorted(polynomial.terms.items()):
            term = self.number(by) if by != 1 or not monomial else None
            for atom in monomial:
                value = self.copied(self.prover.values[atom])
                wide = value if value.type is int64 else self.op(Op.CAST, int64, value)
                term = wide if term is None else self.op(Op.MUL, int64, term, wide)
            assert term is not None
            total = term if total is None else self.op(Op.ADD, int64, total, term)
        return self.number(0) if total is None else total

    def copied(self, value: Value) -> Value:
        """Compute again here what the launch knows."""
        if value not in self.known:
            args = tuple(self.copied(arg) for arg in value.args)
            self.known[value] = self.op(value.op, value.type, *args, attr=value.attr)
        return self.known[value]

    def number(self, value: int) -> Value:
        """A constant."""
        return self.op(Op.CONST, int64, attr=value)

    def op(self, op: Op, type: Type | None, *args: Value, attr: Attr = None) -> Value:
        """Add a line."""
        self.body.append(Value(op, type, args, attr))
        return self.body[-1]
