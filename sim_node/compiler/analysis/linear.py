"""Values as linear forms of memory: a slope for each element that one came from, wherever it is known before a run.

A choice (a ternary, a branch, a minimum) makes cases of a value, and cases that chose differently at one place are
never combined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product

from sim_node.compiler.ir.function import Attr, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import Scalar

MAX_CASES = 32  # of one value; one with more is as good as unknown


@dataclass(frozen=True, slots=True)
class Spot:
    """An element of memory: the identity of its array, the number of its index's expression, a byte in the element."""

    array: int
    index: int
    byte: int


ANYTHING = Spot(-1, -1, 0)  # what a value depends on that nothing can be said of


@dataclass(frozen=True, slots=True)
class Place:
    """Where a choice is made: in which launch, by which value or on the way to what, and by the thread of which index.

    The thread at hand is -1.
    """

    launch: object
    at: object
    thread: int = -1

    @property
    def compares_floats(self) -> bool:
        """Whether it depends on where something is, not on which thread it is."""
        args = self.at.args if isinstance(self.at, Value) else ()
        return any(isinstance(one.type, Scalar) and one.type.is_float for arg in args for one in (arg, *arg.args))


Choices = Mapping[Place, int]  # which way
Slopes = Mapping[Spot, float | None]  # None: it depends on it, in a way that only a run knows


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a value: what was chosen for it, its constant if it is one, and its slopes."""

    choices: Choices = field(default_factory=dict)
    constant: Attr = None
    slopes: Slopes = field(default_factory=dict)

    def choosing(self, choices: Choices) -> Case | None:
        """This case where choices went so; None where it is one of another way."""
        if any(self.choices.get(key, way) != way for key, way in choices.items()):
            return None
        return Case({**self.choices, **choices}, self.constant, self.slopes)

    def agrees(self, other: Case) -> bool:
        """Whether both can be at once."""
        return all(other.choices.get(key, way) == way for key, way in self.choices.items())


Cases = tuple[Case, ...]
UNKNOWN: Cases = (Case(slopes={ANYTHING: None}),)


def chosen(sides: Iterable[tuple[Choices, Cases]]) -> Cases:
    """The cases of a choice between values, each with the choices that lead to it."""
    made = (case.choosing(choices) for choices, side in sides for case in side)
    return _limited([case for case in made if case is not None])


def computed(value: Value, operands: list[Cases]) -> Cases:
    """The cases of an op, from those of its operands."""
    return _limited([_combined(value, cases) for cases in product(*operands) if _possible(cases)])


def is_constant(operands: Iterable[Cases]) -> bool:
    """Whether all are known."""
    return all(case.constant is not None for cases in operands for case in cases)


def _possible(cases: tuple[Case, ...]) -> bool:
    ways: dict[Place, int] = {}
    return all(ways.setdefault(key, way) == way for case in cases for key, way in case.choices.items())


def _limited(cases: list[Case]) -> Cases:
    """The cases, or one that is unknown for too many, and for several of which none is known."""
    vague = len(cases) > 1 and all(case.constant is None and None in case.slopes.values() for case in cases)
    return (Case(slopes=_unknown(*cases)),) if vague or len(cases) > MAX_CASES else tuple(cases)


def _combined(value: Value, cases: tuple[Case, ...]) -> Case:
    choices = {key: way for case in cases for key, way in case.choices.items()}
    if isinstance(value.type, Scalar) and is_constant([cases]):
        operands = [(arg.type, case.constant) for arg, case in zip(value.args, cases) if isinstance(arg.type, Scalar)]
        constant = evaluate(value.op, value.type, operands) if len(operands) == len(cases) else None
        return Case(choices, constant, {} if constant is not None else {ANYTHING: None})
    return Case(choices, None, _SLOPES.get(value.op, _unknown)(*cases))


def _number(case: Case) -> float | None:
    return float(case.constant) if isinstance(case.constant, (int, float)) else None


def _scaled(case: Case, by: float | None) -> Slopes:
    return {spot: None if by is None or slope is None else slope * by for spot, slope in case.slopes.items()}


def _added(a: Slopes, b: Slopes) -> Slopes:
    total = dict(a)
    for spot, slope in b.items():
        other = total.get(spot, 0.0)
        total[spot] = None if slope is None or other is None else slope + other
    return total


def _unknown(*cases: Case) -> Slopes:
    return {spot: None for case in cases for spot in case.slopes}


def _divided(a: Case, b: Case) -> Slopes:
    by = _number(b)
    return _scaled(a, 1.0 / by) if by else _unknown(a, b)


def _multiplied(a: Case, b: Case) -> Slopes:
    return _added(_scaled(a, _number(b)), _scaled(b, _number(a)))


def _fused(a: Case, b: Case, c: Case) -> Slopes:
    return _added(_multiplied(a, b), c.slopes)


_SLOPES: dict[Op, Callable[..., Slopes]] = {
    Op.ADD: lambda a, b: _added(a.slopes, b.slopes),
    Op.SUB: lambda a, b: _added(a.slopes, _scaled(b, -1.0)),
    Op.NEG: lambda a: _scaled(a, -1.0),
    Op.MUL: _multiplied,
    Op.DIV: _divided,
    Op.FMA: _fused,
    Op.MULADD: _fused,
    Op.CAST: lambda a: a.slopes,
}
