"""How integers follow from what they are made of: sums, which are polynomials, and ops whose results have bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim_node.compiler.analysis.facts import At
from sim_node.compiler.analysis.polynomial import Polynomial, number
from sim_node.compiler.analysis.premise import Premise, both, either
from sim_node.compiler.ir.function import Value
from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Scalar

if TYPE_CHECKING:
    from sim_node.compiler.analysis.proof import Prover


def _shifted(a: Polynomial, by: Polynomial) -> Polynomial | None:
    return a.scaled(1 << by.constant) if by.constant is not None and 0 <= by.constant < 31 else None


SUMS: dict[Op, Callable[..., Polynomial | None]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.NEG: lambda a: a.scaled(-1),
    Op.MUL: lambda a, b: a.times(b),
    Op.SHL: _shifted,
    Op.CAST: lambda a: a,
    Op.BOUNDS: lambda a, _: a,
}


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal with a value in it that is to give way to a bound: from above where ``up``, else from below."""

    polynomial: Polynomial
    atom: int
    value: Value
    up: bool
    at: At


Rule = Callable[["Prover", Goal], "Iterable[Premise]"]


def _extreme(prover: Prover, goal: Goal) -> Iterable[Premise]:
    """MIN is at most each and at least one; MAX the other way round."""
    sides = (prover.put(goal.polynomial, goal.atom, prover.term(arg), goal.at) for arg in goal.value.args)
    yield either(sides) if goal.up is (goal.value.op is Op.MIN) else both(sides)


def _remainder(prover: Prover, goal: Goal) -> Iterable[Premise]:
    """The sign is that of the dividend; the size is below the divisor's, and not above the dividend's."""
    a, n = map(prover.term, goal.value.args)
    positive = prover.prove(number(1) - n, goal.at)
    most = n - number(1)
    if goal.up:
        yield both((positive, prover.put(goal.polynomial, goal.atom, most, goal.at)))
        yield both((prover.prove(a.scaled(-1), goal.at), prover.put(goal.polynomial, goal.atom, a, goal.at)))
        return
    yield both((prover.prove(a.scaled(-1), goal.at), prover.put(goal.polynomial, goal.atom, Polynomial(), goal.at)))
    yield both((positive, prover.put(goal.polynomial, goal.atom, most.scaled(-1), goal.at)))


def _quotient(prover: Prover, goal: Goal) -> Iterable[Premise]:
    """Of a dividend and a divisor that are not negative: q is at most b where a is at most b · n + n - 1."""
    a, n = map(prover.term, goal.value.args)
    if goal.value.op is Op.SHR:
        kind = goal.value.type
        if n.constant is None or not isinstance(kind, Scalar):
            return
        n = number(1 << (n.constant & (kind.bits - 1)))
    fair = both((prover.prove(a.scaled(-1), goal.at), prover.prove(number(1) - n, goal.at)))
    if not goal.up:
        yield both((fair, prover.put(goal.polynomial, goal.atom, Polynomial(), goal.at)))
        return
    factor, rest = goal.polynomial.split(goal.atom) or (None, Polynomial())
    scaled = rest.times(n) if factor == number(1) else None
    if scaled is not None:  # b is -rest
        yield both((fair, prover.prove(a + scaled - n + number(1), goal.at)))
    yield both((fair, prover.put(goal.polynomial, goal.atom, a, goal.at)))


def _masked(prover: Prover, goal: Goal) -> Iterable[Premise]:
    """The bits of one that is not negative are at most that one, and not negative."""
    for arg in map(prover.term, goal.value.args):
        limit = arg if goal.up else Polynomial()
        fair = prover.prove(arg.scaled(-1), goal.at)
        yield both((fair, prover.put(goal.polynomial, goal.atom, limit, goal.at)))


RULES: dict[Op, Rule] = {
    Op.MIN: _extreme,
    Op.MAX: _extreme,
    Op.REM: _remainder,
    Op.QUOT: _quotient,
    Op.SHR: _quotient,
    Op.AND: _masked,
}
