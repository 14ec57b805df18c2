"""How what a thread stores depends on what it loaded: its slopes, wherever they are known before the kernel runs.

A value is a linear form of memory: a slope for each element that it came from, None where the slope depends on values
that only a run has. A choice (a ternary, a branch, a minimum) makes two cases of it, and cases that chose differently
at one place are never mixed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Attr, Block, Function, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.evaluate import evaluate
from sim_node.dtypes import Scalar, bool_
from sim_node.errors import Location

MAX_CASES = 32  # of one value; one with more is as good as unknown

# An element as the thread names it: which array, which index (an expression of the thread's number), which byte.
Index = tuple[object, ...]
Slopes = Mapping["Spot", float | None]


@dataclass(frozen=True, slots=True)
class Spot:
    """An element of memory: the identity of its array, the expression of its index, and the byte in the element."""

    array: int
    index: Index
    byte: int


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a value: what was chosen for it, its constant if it is one, and its slopes."""

    choices: Mapping[int, int] = field(default_factory=dict)
    constant: Attr = None
    slopes: Slopes = field(default_factory=dict)


Cases = tuple[Case, ...]
# What memory holds at its elements, and where it was stored.
Memory = dict[Spot, tuple[Cases, Location | None]]


def trace(function: Function, arrays: Mapping[int, int], known: Mapping[tuple[int, int], Attr], memory: Memory) -> None:
    """Follow one launch of an optimised function, and note in ``memory`` what its stores leave there.

    ``arrays`` gives the identity of the array behind each parameter's number, ``known`` the constants behind a
    parameter's number and leaf. What ``memory`` does not hold is as it was when the plan began.
    """
    _Trace(function, arrays, known, memory).run()


class _Trace:
    def __init__(
        self, function: Function, arrays: Mapping[int, int], known: Mapping[tuple[int, int], Attr], memory: Memory
    ) -> None:
        self.blocks = cfg.reverse_postorder(function)
        self.params = {value: number for number, value in enumerate(function.params)}
        self.arrays, self.known, self.memory = arrays, known, memory
        self.cases: dict[Value, Cases] = {}
        for value, number in self.params.items():
            constant = known.get((number, 0))
            self.cases[value] = (Case(constant=constant),)

    def run(self) -> None:
        incoming: dict[str, list[tuple[int, Block]]] = {block.label: [] for block in self.blocks}
        done: set[str] = set()
        for block in self.blocks:
            for number, param in enumerate(block.params):
                self.cases[param] = self._joined(block, number, incoming[block.label], len(done))
            for value in block.body:
                self._value(value)
            done.add(block.label)
            for at, edge in enumerate(block.edges):
                incoming[edge.target].append((at, block))

    def _joined(self, block: Block, number: int, edges: list[tuple[int, Block]], place: int) -> Cases:
        """A block's parameter: a case for each edge, or unknown where one comes from below, as in a loop."""
        preceding = cfg.predecessors(self.blocks)[block.label]
        if len(edges) != len(preceding):
            return (Case(),)
        joined: list[Case] = []
        for way, (at, source) in enumerate(edges):
            cases = self.cases[source.edges[at].args[number]]
            joined += [_choosing(case, -1 - place, way) for case in cases if _agrees(case, -1 - place, way)]
        return _limited(joined)

    def _value(self, value: Value) -> None:
        if value.op is Op.STORE:
            spot = self._spot(value.args[0], value)
            if spot is not None:
                self.memory[spot] = (self.cases[value.args[1]], value.location)
        elif value.type is not None:
            self.cases[value] = self._computed(value)

    def _computed(self, value: Value) -> Cases:
        if value.op is Op.CONST:
            return (Case(constant=value.attr),)
        if value.op is Op.EXTRACT and value.args[0] in self.params:
            return (Case(constant=self.known.get((self.params[value.args[0]], value.number))),)
        if value.op is Op.LOAD:
            spot = self._spot(value.args[0], value)
            if spot is None:
                return (Case(),)
            return self.memory[spot][0] if spot in self.memory else (Case(slopes={spot: 1.0}),)
        if value.op is Op.BOUNDS:
            return self.cases[value.args[0]]
        if value.op is Op.SELECT:
            return self._selected(value)
        operands = [self.cases[arg] for arg in value.args]
        if value.type is bool_ and not _constant(operands):
            return (Case(),)
        if value.op in (Op.MIN, Op.MAX) and not _constant(operands):
            return _limited([_choosing(c, id(value), way) for way, one in enumerate(operands) for c in one])
        return _limited([_combined(value, cases) for cases in product(*operands) if _compatible(cases)])

    def _selected(self, value: Value) -> Cases:
        condition, *sides = (self.cases[arg] for arg in value.args)
        way = [case.constant for case in condition]
        if way == [True] or way == [False]:
            return sides[0] if way[0] else sides[1]
        key = id(value.args[0])  # what one condition chooses, it chooses everywhere
        return _limited([
            _choosing(case, key, way) for way, side in enumerate(sides) for case in side if _agrees(case, key, way)
        ])  # fmt: skip

    def _spot(self, pointer: Value, access: Value) -> Spot | None:
        steps: list[object] = []
        while pointer.op is Op.OFFSET:
            steps += [self._index(pointer.args[1]), pointer.attr]
            pointer = pointer.args[0]
        if pointer.op is not Op.EXTRACT or pointer.args[0] not in self.params:
            return None
        array = self.arrays.get(self.params[pointer.args[0]])
        return None if array is None else Spot(array, tuple(steps), access.number)

    def _index(self, value: Value) -> object:
        """Write an index as an expression of the thread's number that is the same in other kernels."""
        if value.op in (Op.BOUNDS, Op.CAST):
            return self._index(value.args[0])
        if value.op in (Op.TID, Op.CONST):
            return (value.op.name, value.attr)
        if value.op is Op.EXTRACT and value.args[0] in self.params:
            return ("leaf", self.arrays.get(self.params[value.args[0]]), value.attr)
        if value.op in (Op.ADD, Op.SUB, Op.MUL):
            return (value.op.name, *map(self._index, value.args))
        return id(value)


def _constant(operands: list[Cases]) -> bool:
    return all(case.constant is not None for cases in operands for case in cases)


def _agrees(case: Case, key: int, way: int) -> bool:
    return case.choices.get(key, way) == way


def _choosing(case: Case, key: int, way: int) -> Case:
    return Case({**case.choices, key: way}, case.constant, case.slopes)


def _compatible(cases: tuple[Case, ...]) -> bool:
    chosen: dict[int, int] = {}
    return all(chosen.setdefault(key, way) == way for case in cases for key, way in case.choices.items())


def _limited(cases: list[Case]) -> Cases:
    if len(cases) <= MAX_CASES:
        return tuple(cases)
    return (Case(slopes={spot: None for case in cases for spot in case.slopes}),)


def _combined(value: Value, cases: tuple[Case, ...]) -> Case:
    choices = {key: way for case in cases for key, way in case.choices.items()}
    constants = [case.constant for case in cases]
    if all(constant is not None for constant in constants):
        kinds = [arg.type for arg in value.args]
        if isinstance(value.type, Scalar) and all(isinstance(kind, Scalar) for kind in kinds):
            operands = [(kind, constant) for kind, constant in zip(kinds, constants) if isinstance(kind, Scalar)]
            return Case(choices, evaluate(value.op, value.type, operands))
        return Case(choices)
    rule = _SLOPES.get(value.op, _unknown)
    return Case(choices, None, rule(*cases))


def _number(case: Case) -> float | None:
    return float(case.constant) if isinstance(case.constant, (int, float)) else None


def _scaled(case: Case, by: float | None) -> dict[Spot, float | None]:
    return {spot: None if by is None or slope is None else slope * by for spot, slope in case.slopes.items()}


def _added(a: dict[Spot, float | None], b: dict[Spot, float | None]) -> Slopes:
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


_SLOPES: dict[Op, Callable[..., Slopes]] = {
    Op.ADD: lambda a, b: _added(_scaled(a, 1.0), _scaled(b, 1.0)),
    Op.SUB: lambda a, b: _added(_scaled(a, 1.0), _scaled(b, -1.0)),
    Op.NEG: lambda a: _scaled(a, -1.0),
    Op.MUL: _multiplied,
    Op.DIV: _divided,
    Op.FMA: lambda a, b, c: _added(dict(_multiplied(a, b)), _scaled(c, 1.0)),
    Op.CAST: lambda a: _scaled(a, 1.0),
}
