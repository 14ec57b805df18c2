"""What a launch leaves in memory, as linear forms of what memory held when its plan began."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from sim_node.compiler.analysis.linear import (
    ANYTHING,
    UNKNOWN,
    Case,
    Cases,
    Choices,
    Place,
    Spot,
    chosen,
    computed,
    is_constant,
)
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Attr, Block, Edge, Function, Value
from sim_node.compiler.ir.op import SIGNATURES, WRITES, Op
from sim_node.dtypes import Scalar, bool_, pointer
from sim_node.errors import Location

Known = Mapping[tuple[int, int], Attr]  # parameter's number and leaf → what the launch has there; an address's identity
Expression = tuple[Hashable, ...]  # an op or a launch, and what it is of; operands by their numbers


@dataclass(frozen=True, slots=True)
class Stored:
    """What a store leaves in an element, and where it stands; ``covers`` where threads do the same for all elements."""

    cases: Cases
    location: Location | None
    covers: bool = False


@dataclass(slots=True)
class Memory:
    """What launches left: by element, the arrays of which nothing can be said, and the numbers of indices."""

    stored: dict[Spot, Stored] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    numbers: dict[Expression, int] = field(default_factory=dict)
    expressions: list[Expression] = field(default_factory=list)

    def number(self, expression: Expression) -> int:
        """The number of an index's expression, the same for the same expression."""
        if expression not in self.numbers:
            self.numbers[expression] = len(self.expressions)
            self.expressions.append(expression)
        return self.numbers[expression]

    def element(self, number: int) -> int:
        """The number of an index without the stride that it is multiplied by."""
        expression = self.expressions[number]
        if expression[0] == Op.MUL.name:
            operands = [at for at in expression[2:] if isinstance(at, int)]
            factors = [at for at in operands if self.expressions[at][0] != Op.CONST.name]
            return factors[0] if len(factors) == 1 else number
        return number

    def lose(self, arrays: set[int]) -> None:
        """Forget what arrays hold."""
        self.lost |= arrays
        self.stored = {spot: stored for spot, stored in self.stored.items() if spot.array not in arrays}


def trace(function: Function, known: Known, memory: Memory) -> bool:
    """Follow one launch of an optimised function, and note in ``memory`` what it leaves there.

    Returns whether it could: a kernel that stores in a loop, where only the run knows, or by an atomic operation leaves
    nothing that can be said.
    """
    launch = _Launch(function, known, memory)
    if not launch.is_traceable():
        return False
    launch.run()
    return True


@dataclass(frozen=True, slots=True)
class _Way:
    """A jump to a block: the choices that led there, its arguments, and what was stored before."""

    choices: Choices
    args: tuple[Cases, ...]
    stored: dict[Spot, Stored]


class _Launch:
    """The walk over one launch, block by block; a store in one side of a branch makes cases below it."""

    def __init__(self, function: Function, known: Known, memory: Memory) -> None:
        self.blocks = cfg.reverse_postorder(function)
        self.params = {value: number for number, value in enumerate(function.params)}
        self.known, self.memory = known, memory
        self.cases: dict[Value, Cases] = {}
        self.numbers: dict[Value, int] = {}  # of values that may be an index
        self.own: set[int] = {memory.number((Op.TID.name, axis)) for axis in range(4)}
        self.stored: dict[Spot, Stored] = {}  # by this launch so far, on the way to the block at hand

    def is_traceable(self) -> bool:
        looping = _looping(self.blocks)
        for block in self.blocks:
            for value in block.body:
                if value.op is Op.ATOMIC or (value.op in WRITES and block.label in looping):
                    return False
                if value.op is Op.STORE and self._array(value.args[0]) is None:
                    return False
        return True

    def run(self) -> None:
        ways: dict[str, list[_Way]] = {block.label: [] for block in self.blocks}
        ends: list[_Way] = []
        before = cfg.predecessors(self.blocks)
        for value, number in self.params.items():
            if isinstance(value.type, Scalar):
                self._settle(value, self._leaf(number, 0))
        done: set[str] = set()
        for block in self.blocks:
            arriving, is_entry = ways[block.label], not done
            looped = any(source.label not in done for source in before[block.label])
            done.add(block.label)
            if not is_entry and not arriving:
                continue  # no thread of this launch gets here
            self.stored = self._merged(arriving, block)
            path = _common([way.choices for way in arriving])
            for number, param in enumerate(block.params):
                sides = [(self._choices(way, at, arriving, block), way.args[number]) for at, way in enumerate(arriving)]
                self._settle(param, UNKNOWN if looped else chosen(sides))
            for value in block.body:
                self._value(value)
            if not block.edges:
                ends.append(_Way(path, (), self.stored))
            for at, edge in self._live(block):
                choices = {**path, Place(self, block.end.args[0]): at} if len(block.edges) > 1 else path
                if edge.target not in done:
                    ways[edge.target].append(_Way(choices, tuple(self.cases[arg] for arg in edge.args), self.stored))
        self.memory.stored.update(self._merged(ends, self))

    def _live(self, block: Block) -> list[tuple[int, Edge]]:
        """The edges that may be taken, each with its place."""
        edges = list(enumerate(block.edges))
        if len(edges) == 2 and is_constant(condition := [self.cases[block.end.args[0]]]):
            taken = {0 if case.constant else 1 for case in condition[0]}
            return [edges[at] for at in sorted(taken)]
        return edges

    def _choices(self, way: _Way, at: int, arriving: list[_Way], key: object) -> Choices:
        return {**way.choices, Place(self, key): at} if len(arriving) > 1 else {}

    def _merged(self, arriving: list[_Way], key: object) -> dict[Spot, Stored]:
        """What was stored on the ways to a place."""
        merged: dict[Spot, Stored] = {}
        for spot in dict.fromkeys(spot for way in arriving for spot in way.stored):
            sides = [way.stored.get(spot) for way in arriving]
            first = next(side for side in sides if side is not None)
            if all(side is first for side in sides):
                merged[spot] = first
                continue
            cases = [side.cases if side is not None else self._before(spot) for side in sides]
            made = [(self._choices(way, at, arriving, key), cases[at]) for at, way in enumerate(arriving)]
            merged[spot] = replace(first, cases=chosen(made))
        return merged

    def _settle(self, value: Value, cases: Cases) -> None:
        self.cases[value] = cases
        if not isinstance(value.type, Scalar) or not value.type.is_integer:
            return
        same = self.numbers.get(value.args[0]) if value.op in (Op.BOUNDS, Op.CAST) else None
        self.numbers[value] = self.memory.number(self._expression(value, cases)) if same is None else same

    def _expression(self, value: Value, cases: Cases) -> Expression:
        """Write an index so that it is the same in other kernels."""
        if len(cases) == 1 and cases[0].constant is not None:
            return (Op.CONST.name, cases[0].constant)
        if value.op is Op.TID:
            return (value.op.name, value.attr)
        if value.op is Op.LOAD and (spot := self._spot(value)) is not None:
            return (value.op.name, spot)
        if SIGNATURES[value.op].pure and value.args and all(arg in self.numbers for arg in value.args):
            return (value.op.name, value.attr, *(self.numbers[arg] for arg in value.args))
        return (self, value)

    def _value(self, value: Value) -> None:
        if value.op is Op.STORE:
            spot = self._spot(value)
            assert spot is not None
            self.stored[spot] = Stored(self.cases[value.args[1]], value.location, spot.index in self.own)
        elif isinstance(value.type, Scalar) and value.type is not pointer:
            self._settle(value, self._computed(value))

    def _computed(self, value: Value) -> Cases:
        if value.op is Op.CONST:
            return (Case(constant=value.attr),)
        if value.op is Op.TID:
            return (Case(),)
        if value.op is Op.EXTRACT and value.args[0] in self.params:
            return self._leaf(self.params[value.args[0]], value.number)
        if value.op is Op.LOAD:
            return self._loaded(value)
        if value.op is Op.BOUNDS:
            return self.cases[value.args[0]]
        operands = [self.cases[arg] for arg in value.args if arg in self.cases]
        if len(operands) != len(value.args):
            return UNKNOWN
        if value.op is Op.SELECT:
            return self._selected(value, operands)
        if is_constant(operands):
            return computed(value, operands)
        if value.type is bool_:
            return (Case(),)
        if value.op in (Op.MIN, Op.MAX):
            return chosen(({Place(self, value): way}, side) for way, side in enumerate(operands))
        return computed(value, operands)

    def _selected(self, value: Value, operands: list[Cases]) -> Cases:
        condition, *sides = operands
        if len(condition) == 1 and condition[0].constant is not None:
            return sides[0] if condition[0].constant else sides[1]
        key = Place(self, value.args[0])
        return chosen(
            ({key: way}, side) for way, side in enumerate(sides)
        )  # what one condition chooses, it chooses everywhere

    def _leaf(self, number: int, leaf: int) -> Cases:
        constant = self.known.get((number, leaf))
        return UNKNOWN if constant is None else (Case(constant=constant),)

    def _loaded(self, value: Value) -> Cases:
        spot = self._spot(value)
        if spot is None:
            return UNKNOWN
        return self.stored[spot].cases if spot in self.stored else self._before(spot)

    def _before(self, spot: Spot) -> Cases:
        """What an element held when the launch began; one of another thread, where earlier launches stored to all."""
        if spot.array in self.memory.lost:
            return UNKNOWN
        if spot in self.memory.stored:
            return self.memory.stored[spot].cases
        others = [
            (at, stored) for at, stored in self.memory.stored.items() if at.array == spot.array and at.byte == spot.byte
        ]
        if not others:
            return (Case(slopes={spot: 1.0}),)
        if len(others) > 1 or not others[0][1].covers:
            return UNKNOWN
        at, stored = others[0]
        return tuple(_moved(case, at.index, spot.index) for case in stored.cases)

    def _spot(self, access: Value) -> Spot | None:
        """The element that an access is to."""
        array, steps = self._array(access.args[0]), []
        if array is None:
            return None
        address = access.args[0]
        while address.op is Op.OFFSET:
            steps.append((self.numbers.get(address.args[1], address.args[1]), address.attr))
            address = address.args[0]
        first = steps[0][0] if len(steps) == 1 else None
        index = self.memory.element(first) if isinstance(first, int) else self.memory.number(tuple(steps))
        return Spot(array, index, access.number)

    def _array(self, address: Value) -> int | None:
        while address.op is Op.OFFSET:
            address = address.args[0]
        if address.op is not Op.EXTRACT or address.args[0] not in self.params:
            return None
        identity = self.known.get((self.params[address.args[0]], address.number))
        return identity if isinstance(identity, int) else None


def _common(paths: list[Choices]) -> Choices:
    """The choices that every way to a place has in common."""
    if not paths:
        return {}
    return {key: way for key, way in paths[0].items() if all(path.get(key) == way for path in paths)}


def _moved(case: Case, index: int, to: int) -> Case:
    """A thread's case as another thread has it: what it took from its own element, that one takes from its own."""
    choices = {replace(key, thread=to): way for key, way in case.choices.items()}
    slopes = {
        replace(spot, index=to) if spot.index == index else ANYTHING: slope if spot.index == index else None
        for spot, slope in case.slopes.items()
    }
    return Case(choices, case.constant, slopes)


def _looping(blocks: list[Block]) -> set[str]:
    """Labels of the blocks that may run more than once: those between the head of a loop and an edge back to it."""
    place = {block.label: number for number, block in enumerate(blocks)}
    preceding = cfg.predecessors(blocks)
    looping: set[str] = set()
    for block in blocks:
        for edge in block.edges:
            if place[edge.target] <= place[block.label]:
                inside, pending = {edge.target}, [block.label]
                while pending:
                    label = pending.pop()
                    if label not in inside:
                        inside.add(label)
                        pending += [source.label for source in preceding[label]]
                looping |= inside
    return looping
