"""What is known where, by the branches and checks that every way to a place has passed: polynomials at most 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from sim_node.compiler.analysis.polynomial import Interval, Polynomial, number
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Scalar, bool_

CASES = 4  # of one condition; with more nothing is said of it

Term = Callable[[Value], Polynomial]  # how a value is written
Case = tuple[Polynomial, ...]  # each at most 0

_ORDERS: dict[Op, tuple[int, int]] = {Op.LT: (1, 1), Op.LE: (1, 0), Op.GT: (-1, 1), Op.GE: (-1, 0)}


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a function: before that value of that block."""

    label: str
    position: int


@dataclass(frozen=True, slots=True)
class At:
    """Where a goal is: the place, facts of that place alone, goals taken for granted, and facts that are used up."""

    spot: Spot
    local: tuple[Polynomial, ...] = ()
    granted: tuple[Polynomial, ...] = ()
    used: frozenset[Polynomial] = frozenset()


@dataclass(frozen=True, slots=True)
class Fact:
    """A polynomial that is at most 0 from a place on; ``check`` says that it comes from a check of an index."""

    where: Spot
    polynomial: Polynomial
    check: bool


def cases(condition: Value, truth: bool, term: Term) -> list[Case]:
    """The cases in which a condition is so; none where it never is, and one without facts where nothing is known."""
    op, args = condition.op, condition.args
    if op is Op.CONST:
        return [()] if condition.attr is truth else []
    if op is Op.INVERT:
        return cases(args[0], not truth, term)
    if args and args[0].type is bool_ and op in (Op.AND, Op.OR, Op.EQ, Op.NE, Op.XOR):
        return _limited(_connected(op, args, truth, term))
    if not args or not isinstance(args[0].type, Scalar) or not args[0].type.is_integer:
        return [()]
    if op in _ORDERS:
        sign, strict = _ORDERS[op]
        less = (term(args[0]) - term(args[1])).scaled(sign)
        return [(less + number(strict),)] if truth else [(number(1 - strict) - less,)]
    if op in (Op.EQ, Op.NE):
        apart = term(args[0]) - term(args[1])
        if truth is (op is Op.EQ):
            return [(apart, apart.scaled(-1))]
        return [(apart + number(1),), (number(1) - apart,)]
    return [()]


def _connected(op: Op, args: tuple[Value, ...], truth: bool, term: Term) -> list[Case]:
    a, b = args
    if op in (Op.AND, Op.OR):
        one = op is Op.OR  # what decides alone
        if truth is one:
            return [*cases(a, one, term), *cases(b, one, term)]
        return _together(cases(a, truth, term), cases(b, truth, term))
    equal = truth is (op is Op.EQ)
    return [
        case for way in (True, False) for case in _together(cases(a, way, term), cases(b, way is equal, term))
    ]  # fmt: skip


def _together(some: list[Case], others: list[Case]) -> list[Case]:
    return [(*a, *b) for a, b in product(some, others)]


def _limited(found: list[Case]) -> list[Case]:
    return found if len(found) <= CASES and () not in found else [()]


class Facts:
    """The facts of a function, by the numbers in them."""

    def __init__(self, order: list[Block], terms: tuple[Term, ...], interval: Callable[[int], Interval]) -> None:
        """Collect them, each in every way that ``terms`` write a value; cases outside of intervals never come."""
        self.idom = cfg.dominators(order)
        self._terms, self._interval = terms, interval
        self._by_atom: dict[int, dict[Fact, None]] = {}
        before = cfg.predecessors(order)
        for block in order:
            if len(before[block.label]) == 1:
                (source,) = before[block.label]
                for edge in source.edges:
                    if edge.target == block.label:
                        self._add(Spot(block.label, -1), self.of_edge(source, edge))
            for position, value in enumerate(block.body):
                if value.op is Op.CHECK:
                    self._add(Spot(block.label, position), self._sure(value.args[0], True))
                elif value.op is Op.BOUNDS:
                    index, length = value.args
                    for term in terms:
                        inside = (term(index).scaled(-1), term(index) - term(length) + number(1))
                        self._add(Spot(block.label, position), inside, check=True)

    def about(self, atom: int) -> list[Fact]:
        """Those in which a number is."""
        return list(self._by_atom.get(atom, ()))

    def holds(self, fact: Fact, at: Spot) -> bool:
        """Whether every way to a place has passed where the fact begins."""
        if fact.where.label == at.label:
            return fact.where.position < at.position
        return self.dominates(fact.where.label, at.label)

    def dominates(self, above: str, label: str) -> bool:
        """Whether a block dominates another one, strictly."""
        up = self.idom[label]
        while up is not None and up != above:
            up = self.idom[up]
        return up is not None

    def of_edge(self, source: Block, edge: Edge) -> Case:
        """What is known on an edge by the branch that it leaves."""
        if source.end.op is not Op.BRANCH or source.edges[0].target == source.edges[1].target:
            return ()
        return self._sure(source.end.args[0], edge is source.edges[0])

    def _sure(self, condition: Value, truth: bool) -> Case:
        """The facts of a condition that has one case."""
        found: list[Polynomial] = []
        for term in self._terms:
            every = [case for case in cases(condition, truth, term) if self._possible(case)]
            found += every[0] if len(every) == 1 else ()
        return tuple(dict.fromkeys(found))

    def _possible(self, case: Case) -> bool:
        return all(part.interval(self._interval)[0] <= 0 for part in case)

    def _add(self, where: Spot, case: Case, check: bool = False) -> None:
        for polynomial in case:
            fact = Fact(where, polynomial, check)
            for atom in polynomial.atoms:
                self._by_atom.setdefault(atom, {})[fact] = None
