"""Proves inequalities between integers of a function, or says under which premises of a launch they hold.

Goal by goal, backwards from what is asked to what it is made of, as in Bodík, Gupta and Sarkar (2000), "ABCD:
eliminating array bounds checks on demand", but for polynomials and with premises at the leaves. A goal "p is at most 0"
is led back by the value in p that is made last: to what that value is computed from, to the facts that hold there, or
for a block's parameter to every edge, where the goal itself may be taken for granted at the visit of the block before
(induction over the steps of a thread). A sum is what it says only where it does not wrap, which is a goal as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from sim_node.compiler.analysis.bounds import RULES, SUMS, Goal
from sim_node.compiler.analysis.facts import At, Case, Facts, Spot, cases
from sim_node.compiler.analysis.interval import intervals, whole
from sim_node.compiler.analysis.polynomial import DEGREE, Interval, Polynomial, number, of
from sim_node.compiler.analysis.premise import ALWAYS, NEVER, AtMost, Holds, Premise, both, either
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function, Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.dtypes import Scalar, bool_

FUEL = 200  # goals to one question; what needs more is taken for not provable
DEPTH = 24  # goals behind each other
TERMS = 8  # of a sum that is worth writing out
HEIGHT = 16  # operations behind each other that a launch does to know a value
RANGE = 2**63  # a premise is computed in i64, so nothing in it goes beyond

ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE})
_LATER = frozenset({Op.QUOT, Op.REM, Op.ARG, Op.TID, Op.OFFSET})  # not known at launch: some may stop a process there


@dataclass(frozen=True, slots=True)
class _Sum:
    """How a value is written, when that is what it is, and the values that it is written by."""

    polynomial: Polynomial
    exact: Premise
    sums: frozenset[Value] = frozenset()


@dataclass(frozen=True, slots=True)
class Check:
    """When a check passes; ``sums`` are the sums in its index that do not wrap then."""

    premise: Premise
    sums: frozenset[Value] = frozenset()


class Prover:
    """Answers questions about one function of scalars; values go by their number, the order in which they are made."""

    def __init__(self, function: Function) -> None:
        self.order = cfg.reverse_postorder(function)
        self.values: list[Value] = list(function.params)
        self.home: dict[Value, str] = {}
        for block in self.order:
            for value in (*block.params, *block.body):
                self.values.append(value)
                self.home[value] = block.label
        self.numbers = {value: i for i, value in enumerate(self.values)}
        coordinates: dict[int, int] = {}
        for value in self.values:
            if value.op is Op.TID:
                self.numbers[value] = coordinates.setdefault(value.number, self.numbers[value])
        self.intervals = intervals(self.order)
        self._steady = self._known_at_launch()
        self._blocks = {block.label: block for block in self.order}
        self._before = cfg.predecessors(self.order)
        plain = self._plain_sums()
        self._plain = {self.numbers[value]: polynomial for value, polynomial in plain.items()}
        terms = (self.term, lambda value: plain.get(value) or self.term(value))
        self.facts = Facts(self.order, terms, self._interval)
        self._fuel = self._depth = 0
        self._sums: dict[tuple[Value, At], _Sum | None] = {}  # of one question

    # questions

    def check(self, value: Value, spot: Spot) -> Check:
        """Say under which premise a BOUNDS or a CHECK passes, for every thread that comes there."""
        self._fuel = FUEL
        self._sums.clear()
        at = At(spot)
        if value.op is Op.CHECK:
            return Check(self._true(value.args[0], True, at))
        index, length = value.args
        written = self._written(index, at)
        premise = both((written.exact, *self._inside(written.polynomial, length, at)))
        if premise != NEVER:
            return Check(premise, written.sums)
        return Check(both(self._inside(self.term(index), length, at)))

    def term(self, value: Value) -> Polynomial:
        """A value as such: a constant, or its number."""
        low, high = self._interval(self.numbers[value])
        return number(low) if low == high else of(self.numbers[value])

    # truth

    def _inside(self, index: Polynomial, length: Value, at: At) -> Iterable[Premise]:
        yield self.prove(index.scaled(-1), at)
        yield self.prove(index - self.term(length) + number(1), at)

    def _true(self, value: Value, truth: bool, at: At) -> Premise:
        op, args = value.op, value.args
        if op is Op.CONST:
            return ALWAYS if value.attr is truth else NEVER
        if op is Op.INVERT:
            return self._true(args[0], not truth, at)
        if args and args[0].type is bool_ and op in (Op.AND, Op.OR):
            sides = (self._true(arg, truth, at) for arg in args)
            return both(sides) if truth is (op is Op.AND) else either(sides)
        options: list[Premise] = []
        if op in ORDERED and whole(args[0].type) is not None and args[0].type is not bool_:  # whose cases are all of it
            options = [both(self.prove(part, at) for part in case) for case in cases(value, truth, self.term)]
        if self.numbers[value] in self._steady and either(options) == NEVER:
            options = [Holds(self.numbers[value], truth)]
        return either(options)

    # goals

    def prove(self, goal: Polynomial, at: At) -> Premise:
        """Say when a polynomial is at most 0."""
        low, high = goal.interval(self._interval)
        if high <= 0 or any(_follows(goal, other) for other in at.granted):
            return ALWAYS
        self._fuel -= 1
        if low > 0 or self._fuel < 0 or self._depth > DEPTH:
            return NEVER
        last = max((atom for atom in goal.atoms if not self._launch(atom)), default=None)
        self._depth += 1
        premise = either(self._ways(goal, at, last))
        self._depth -= 1
        return premise

    def _ways(self, goal: Polynomial, at: At, last: int | None) -> Iterable[Premise]:
        """The ways to a goal, the surest first."""
        for used, fact, times in self._useful(goal, at, last):
            yield self.prove(goal - fact.scaled(times), replace(at, used=at.used | {used}))
        if last is not None:
            yield from self._through(last, goal, at)
        else:
            written = goal.replacing({atom: self._plain[atom] for atom in goal.atoms & self._plain.keys()})
            if written is not None and written != goal:
                yield self.prove(written, at)
            elif self._computable(goal):
                yield AtMost(goal)
        for fact in at.local:  # a case that the launch knows not to come is no case
            if not any(self.values[atom].op is Op.TID or not self._launch(atom) for atom in fact.atoms):
                yield self.prove(number(1) - fact, replace(at, local=()))

    def _computable(self, goal: Polynomial) -> bool:
        """Whether a launch may compute it in i64, and finds where along a row it is at most 0."""
        squares = any(a == b and self.values[a].op is Op.TID for a, b in (m for m in goal.terms if len(m) == DEGREE))
        return not squares and max(map(abs, goal.interval(self._interval))) < RANGE

    def _useful(self, goal: Polynomial, at: At, last: int | None) -> Iterable[tuple[Polynomial, Polynomial, int]]:
        """The facts that take a number out of the goal; of checks only for what the launch does not know anyway."""
        for atom in sorted(goal.atoms, reverse=True) if last is None else (last,):
            wanted = goal.terms.get((atom,), 0)
            facts = [(fact, False) for fact in at.local] + [
                (fact.polynomial, fact.check) for fact in self.facts.about(atom) if self.facts.holds(fact, at.spot)
            ]  # fmt: skip
            for fact, check in facts:
                has = fact.terms.get((atom,), 0)
                fits = has and wanted % has == 0 and wanted // has > 0
                if fits and fact not in at.used and not (check and last is None):
                    yield fact, fact, wanted // has

    def _through(self, atom: int, goal: Polynomial, at: At) -> Iterable[Premise]:
        """Lead a goal back to what a value is made of."""
        value = self.values[atom]
        if value.op is Op.ARG:
            yield self._around(atom, goal, at)
            return
        written = self._opened(value, at)
        if written is not None:
            if written.exact != NEVER:
                yield both((written.exact, self.put(goal, atom, written.polynomial, at)))
        elif value.op is Op.SELECT:
            yield both(self._chosen(value, goal, atom, at))
        else:
            yield from self._bounded(value, atom, goal, at)

    def _bounded(self, value: Value, atom: int, goal: Polynomial, at: At) -> Iterable[Premise]:
        """Put the bounds that an op's result has in the place of a value."""
        parts, rule = goal.split(atom), RULES.get(value.op)
        if parts is None:
            return
        low, high = parts[0].interval(self._interval)
        up = low >= 0 or high > 0  # where it may be either, it is to be at least 0
        known = ALWAYS if low >= 0 or high <= 0 else self.prove(parts[0].scaled(-1), at)
        if known == NEVER:
            return
        for part in rule(self, Goal(goal, atom, value, up, at)) if rule else ():
            yield both((known, part))
        yield both((known, self.put(goal, atom, number(self._interval(atom)[up]), at)))

    def put(self, goal: Polynomial, atom: int, instead: Polynomial, at: At) -> Premise:
        """Say when a goal holds with another polynomial for a value."""
        new = goal.replacing({atom: instead})
        return NEVER if new is None else self.prove(new, at)

    def _chosen(self, value: Value, goal: Polynomial, atom: int, at: At) -> Iterable[Premise]:
        condition, *sides = value.args
        for truth, side in zip((True, False), sides):
            for case in cases(condition, truth, self.term):
                yield self.put(goal, atom, self.term(side), replace(at, local=at.local + case))

    def _around(self, atom: int, goal: Polynomial, at: At) -> Premise:
        """Lead a goal to every edge of the block that a parameter is of."""
        label = self.home[self.values[atom]]
        params = {self.numbers[param]: i for i, param in enumerate(self._blocks[label].params)}
        for other in goal.atoms - params.keys():  # what is made in the loop has another value there
            home = None if self._launch(other) else self.home.get(self.values[other])
            if home is not None and not self.facts.dominates(home, label):
                return NEVER
        granted = (*at.granted, goal)
        return both(self._from(source.label, label, params, goal, granted) for source in self._before[label])

    def _from(
        self, source: str, label: str, params: dict[int, int], goal: Polynomial, granted: tuple[Polynomial, ...]
    ) -> Premise:
        block = self._blocks[source]
        spot = Spot(source, len(block.body))
        made = []
        for edge in block.edges:
            if edge.target == label:
                new = goal.replacing({atom: self.term(edge.args[i]) for atom, i in params.items()})
                local: Case = self.facts.of_edge(block, edge)
                made.append(NEVER if new is None else self.prove(new, At(spot, local, granted)))
        return both(made)

    # sums

    def _written(self, value: Value, at: At) -> _Sum:
        """Write a value as a sum as far as that goes."""
        self._fuel -= 1
        opened = None if self._launch(self.numbers[value]) or self._fuel < 0 else self._opened(value, at)
        if opened is None or opened.exact == NEVER:
            return _Sum(self.term(value), ALWAYS)
        made = opened
        for atom in sorted(opened.polynomial.atoms, reverse=True):
            inner = self._written(self.values[atom], at)
            new = made.polynomial.replacing({atom: inner.polynomial})
            if inner.sums and new is not None and len(new.terms) <= TERMS:
                made = _Sum(new, both((made.exact, inner.exact)), made.sums | inner.sums)
        return made

    def _plain_sums(self) -> dict[Value, Polynomial]:
        """Write as a sum each value whose operands are too small to wrap."""
        found: dict[Value, Polynomial] = {}
        for value in self.values:
            row, every = SUMS.get(value.op), whole(value.type)
            if row is None or every is None or not _of_integers(value):
                continue
            made = row(*(found.get(arg) or self.term(arg) for arg in value.args))
            if made is not None and len(made.terms) <= TERMS and _fits(made.interval(self._interval), every):
                found[value] = made
        return found

    def _opened(self, value: Value, at: At) -> _Sum | None:
        """Write a value as its operands, where it is a sum or the like of integers, and say when it does not wrap."""
        if (value, at) not in self._sums:
            self._sums[value, at] = self._sum(value, at)
        return self._sums[value, at]

    def _sum(self, value: Value, at: At) -> _Sum | None:
        row, every = SUMS.get(value.op), whole(value.type)
        if row is None or every is None or not _of_integers(value):
            return None
        made = row(*map(self.term, value.args))
        if made is None:
            return None
        low, high = made.interval(self._interval)
        proofs = (
            ALWAYS if every[0] <= low else self.prove(number(every[0]) - made, at),
            ALWAYS if high <= every[1] else self.prove(made - number(every[1]), at),
        )
        return _Sum(made, both(proofs), frozenset({value}))

    # what is known of a value

    def _launch(self, atom: int) -> bool:
        return atom in self._steady or self.values[atom].op is Op.TID

    def _interval(self, atom: int) -> Interval:
        value = self.values[atom]
        return self.intervals.get(value) or whole(value.type) or (-RANGE * RANGE, RANGE * RANGE)

    def _known_at_launch(self) -> frozenset[int]:
        height: dict[Value, int] = {}
        for value in self.values:
            fixed = value.op in _LATER or not SIGNATURES[value.op].pure
            if isinstance(value.type, Scalar) and not fixed:
                below = [0 if value.op is Op.EXTRACT else height.get(arg, HEIGHT) for arg in value.args]
                if max(below, default=0) < HEIGHT:
                    height[value] = max(below, default=0) + 1
        return frozenset(self.numbers[value] for value in height)


def _follows(goal: Polynomial, granted: Polynomial) -> bool:
    apart = (goal - granted).constant
    return apart is not None and apart <= 0


def _fits(ends: Interval, every: Interval) -> bool:
    return every[0] <= ends[0] and ends[1] <= every[1]


def _of_integers(value: Value) -> bool:
    return value.type is not bool_ and all(whole(arg.type) is not None for arg in value.args)
