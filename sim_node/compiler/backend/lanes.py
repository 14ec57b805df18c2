"""The thread as code of vectors: as many neighbours of a row as a vector has lanes, one a lane, in step.

Pharr and Mark (2012), "ispc: A SPMD Compiler for High-Performance CPU Programming". What is the same for all lanes is
computed once; a value that grows from lane to lane by a fixed step, as indices and addresses do, is known by that of
the first lane; the rest is vectors, by the rows of ``rows.py``. A check that fails in any lane leaves the vectors
before anything is stored, and the loop over single threads finds out which thread it was.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from sim_node.compiler.analysis.uniformity import ObstacleError
from sim_node.compiler.backend import abi, rows
from sim_node.compiler.backend.access import LEFT, Access
from sim_node.compiler.backend.strides import strides
from sim_node.compiler.backend.weave import weaves
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Value
from sim_node.compiler.ir.op import WRITES, Op
from sim_node.compiler.passes.flatten import Flat, flatten
from sim_node.dtypes import Kind, Scalar

INDEX = "%lanes.i"  # the last coordinate of the first lane's thread
HERE = "%lanes.here"  # the mask of the lanes that have a thread
_CHECKS = (Op.BOUNDS, Op.CHECK)
_TRAPS = (Op.QUOT, Op.REM)
# Bodies of so few vectors are written for as many times the lanes of a register; of those whose lanes read or write
# elsewhere than in rows, for so many at most.
_SMALL = ((24, 4), (200, 2))
_SCATTERED = 2


@dataclass(frozen=True)
class Vectors:
    """A function that can be written as vectors, and of how many lanes."""

    flat: Flat
    lanes: int
    strides: dict[Value, int | None]
    size: int  # values of a thread that are vectors


def vectors(function: Function, bits: int, partial: bool) -> Vectors:
    """Find out how to write a function for registers of so many bits.

    If ``partial``, vectors are run that have threads in their first lanes only.
    Raises ObstacleError where threads have to run one by one.
    """
    axis = max(function.dims, 1) - 1
    values = [value for block in function.blocks for value in block.body]
    for value in values:
        if value.op not in _WIDE:
            raise ObstacleError(f"{_ALONE[value.op]} is one thread's at a time")
    if not any(value.op is Op.TID and value.number == axis for value in values):
        raise ObstacleError("all threads do the same")
    if not any(value.op is Op.STORE for value in values):
        raise ObstacleError("nothing is stored")
    flat = flatten(function, partial)
    order = cfg.reverse_postorder(flat.function)
    _check_first(order)
    apart = strides(flat, axis)
    values = [value for block in order for value in block.body]
    size = sum(value.op is not Op.TID and apart[value] is None for value in values)
    return Vectors(flat, bits // 32 * _times(values, apart, size), apart, size)


def _times(values: list[Value], apart: dict[Value, int | None], size: int) -> int:
    """How many registers there are for a value: more in small bodies, so that processors find more to do at once."""
    memory = (value for value in values if value.op in (Op.LOAD, Op.STORE))
    rows = all(
        apart[value.args[0]] in (0, scalar(value.args[1] if value.op is Op.STORE else value).size) for value in memory
    )
    return next((times for most, times in _SMALL if size <= most and (rows or times <= _SCATTERED)), 1)


def _check_first(order: list[Block]) -> None:
    """Refuse checks that may come after something was stored: where one fails, all is done again."""
    dirty = {block.label: False for block in order}
    changed = True
    while changed:
        changed = False
        for block in order:
            stored = dirty[block.label]
            for value in block.body:
                if stored and value.op in _CHECKS:
                    raise ObstacleError("a check comes after something was stored")
                stored = stored or value.op in WRITES
            for edge in block.edges:
                if stored and not dirty[edge.target]:
                    dirty[edge.target] = changed = True


class Lanes:
    """The names of a function's values in vectors, and the lines that compute them."""

    def __init__(self, vectors: Vectors, leave: str) -> None:
        """``leave`` is the label to go to when a check fails."""
        self.flat, self.lanes, self.strides = vectors.flat, vectors.lanes, vectors.strides
        self.leave = leave
        self.blocks = cfg.reverse_postorder(self.flat.function)
        self._places = {block.label: at for at, block in enumerate(self.blocks)}  # labels may be longer than LLVM takes
        self.numbers: dict[Value, int] = {}
        for param in self.flat.function.params:
            self.numbers[param] = len(self.numbers)
        for block in self.blocks:
            for value in (*block.params, *block.body):
                self.numbers[value] = len(self.numbers)
        self.weaves = {
            member: weave
            for block in self.blocks
            for weave in weaves(block, self.flat, self.strides)
            for member in weave.members
        }
        self.wide = self._wanted()
        self.fresh = 0
        self.checks: list[str] = []  # where the lines leave when one fails

    # names

    def one(self, value: Value) -> str:
        """Name what is the same in all lanes, or the first lane's."""
        if value.op is Op.CONST:
            return rows.constant(scalar(value), value.attr)
        if value.op is Op.TID:
            return INDEX if self.strides[value] else abi.coordinate(value.number)
        if value.op is Op.PARAM:
            return abi.word(value.number)
        if value.op is Op.EXTRACT:
            return abi.word(value.args[0].number, value.number)
        if value.op is Op.BOUNDS:
            return self.one(value.args[0])
        return f"%s{self.numbers[value]}"

    def each(self, value: Value) -> str:
        """Name the vector of all lanes' values."""
        if value.op is Op.CONST:
            return f"splat ({rows.TYPES[scalar(value).name]} {rows.constant(scalar(value), value.attr)})"
        if value.op is Op.BOUNDS:
            return self.each(value.args[0])
        if value is self.flat.here:
            return HERE
        return f"%x{self.numbers[value]}"

    def kind(self, name: str) -> str:
        """Write the type of a vector."""
        return f"<{self.lanes} x {name}>"

    def vector(self, value: Value) -> str:
        """Write a value's vector type."""
        return self.kind(rows.TYPES[scalar(value).name])

    def new(self) -> str:
        """Make a name."""
        self.fresh += 1
        return f"%n{self.fresh}"

    # what is needed as a vector

    def _wanted(self) -> set[Value]:
        params = {block.label: block.params for block in self.blocks}
        roots: list[Value] = [mask for value, mask in self.flat.masks.items() if value.op in _GUARDS]
        for block in self.blocks:
            for value in block.body:
                if value.op in (Op.LOAD, Op.STORE):
                    roots += Access(value, self).wanted()
                elif value.op in _CHECKS:
                    if any(self.strides[arg] != 0 for arg in _asked(value)):
                        roots += _asked(value)
                elif value.type is not None and self.strides[value] is None:
                    roots.append(value)
            for edge in block.edges:
                pairs = zip(params[edge.target], edge.args)
                roots += [arg for param, arg in pairs if self.strides[param] is None]
        wanted = set[Value]()
        while roots:
            value = roots.pop()
            if value not in wanted:
                wanted.add(value)
                if value.op is Op.BOUNDS:  # is its index, by another name
                    roots.append(value.args[0])
                elif self.strides[value] != 0 and value.op is not Op.LOAD:
                    roots += value.args
        return wanted

    # lines

    def heads(self) -> Iterator[str]:
        """Before the loop: spread the words of the argument block and the coordinates that are needed in every lane."""
        for value in self.numbers:
            if value in self.wide and value.op in (Op.PARAM, Op.EXTRACT, Op.TID) and self.strides[value] == 0:
                yield from self._spread(value)

    def lines(self, after: str) -> Iterator[str]:
        """Write the body, which goes on at the label ``after``."""
        incoming: dict[str, list[tuple[str, Edge]]] = {block.label: [] for block in self.blocks}
        for block in self.blocks:
            checks = sum(value.op in _CHECKS for value in block.body)
            for edge in block.edges:
                incoming[edge.target].append((self._label(block, checks), edge))
        if self.flat.here is not None:
            for parts in (1, *sorted({weave.parts for weave in self.weaves.values()})):
                yield from self._there(parts)
        yield f"  br label %{self._label(self.blocks[0], 0)}"
        for block in self.blocks:
            yield f"{self._label(block, 0)}:"
            for at, param in enumerate(block.params):
                name, kind = (self.each, self.vector) if self.strides[param] is None else (self.one, type_of)
                passed = [f"[ {name(edge.args[at])}, %{source} ]" for source, edge in incoming[block.label]]
                yield f"  {name(param)} = phi {kind(param)} {', '.join(passed)}"
            for param in block.params:
                if self.strides[param] == 0 and param in self.wide:
                    yield from self._spread(param)
            checks = 0
            for value in block.body:
                if value.op in _CHECKS:
                    self.checks.append(self._label(block, checks))
                    checks += 1
                    yield from self._check(value, self._label(block, checks))
                elif value.op not in _GIVEN or self.strides[value]:
                    yield from self._value(value)
            yield from self._end(block, after)

    def there(self, row: int, parts: int) -> str:
        """Name the mask of what belongs to lanes that have a thread, of a vector in a row of elements of parts."""
        return HERE if parts == 1 else f"{HERE}.{parts}.{row}"

    def _there(self, parts: int) -> Iterator[str]:
        kind, count = self.kind("i32"), f"{self.there(0, parts)}.n"
        yield f"  {count}.0 = insertelement {kind} poison, i32 {LEFT}, i64 0"
        yield f"  {count} = shufflevector {kind} {count}.0, {kind} poison, {kind} zeroinitializer"
        for row in range(parts):
            numbers = ", ".join(f"i32 {(row * self.lanes + at) // parts}" for at in range(self.lanes))
            yield f"  {self.there(row, parts)} = icmp slt {kind} <{numbers}>, {count}"

    def _label(self, block: Block, checks: int) -> str:
        return f"lanes.{self._places[block.label]}.{checks}"

    def _value(self, value: Value) -> Iterator[str]:
        if value.op in (Op.LOAD, Op.STORE):
            yield from Access(value, self).lines()
            if value.op is Op.LOAD and self.strides[value] == 0 and value in self.wide:
                yield from self._spread(value)
        elif value.op is Op.TID:
            if value in self.wide:
                yield from self._counted(value)
        elif value.op is Op.OFFSET:
            yield from self._offset(value)
        else:
            yield from self._row(value)

    def _row(self, value: Value) -> Iterator[str]:
        source, result = scalar(value.args[0]), scalar(value)
        row = rows.row(value.op, source, result)
        mask = self.flat.masks.get(value)
        if self.strides[value] is not None:
            operands = [self.one(arg) for arg in value.args]
            if mask not in (None, self.flat.here) and _traps(value):
                some = yield from self.any(mask)
                yield f"  {self.one(value)}.o = select i1 {some}, {type_of(value)} {operands[1]}, {type_of(value)} 1"
                operands[1] = f"{self.one(value)}.o"
            yield from rows.fill(row, self.one(value), source, result, operands)
            if self.strides[value] == 0:
                if value in self.wide:
                    yield from self._spread(value)
                return
        if value not in self.wide:
            return
        operands = [self.each(arg) for arg in value.args]
        if mask is not None and _traps(value):
            kind, name = self.vector(value), f"{self.each(value)}.o"
            one = f"splat ({type_of(value)} 1)"
            yield f"  {name} = select {self.kind('i1')} {self.each(mask)}, {kind} {operands[1]}, {kind} {one}"
            operands[1] = name
        yield from rows.fill(row, self.each(value), source, result, operands, self.lanes)

    def _offset(self, value: Value) -> Iterator[str]:
        base, steps = value.args
        widen = "sext" if scalar(steps).kind is Kind.INT else "zext"
        if self.strides[value] is not None:
            count = self.one(steps)
            if scalar(steps).bits < 64:
                yield f"  {self.one(value)}.i = {widen} {type_of(steps)} {count} to i64"
                count = f"{self.one(value)}.i"
            yield f"  {self.one(value)} = getelementptr [{value.number} x i8], ptr {self.one(base)}, i64 {count}"
            if self.strides[value] == 0:
                if value in self.wide:
                    yield from self._spread(value)
                return
        if value not in self.wide:
            return
        many, counts = self.each(value), self.each(steps)
        if scalar(steps).bits < 64:
            yield f"  {many}.i = {widen} {self.vector(steps)} {counts} to {self.kind('i64')}"
            counts = f"{many}.i"
        start = f"{self.kind('ptr')} {self.each(base)}"
        yield f"  {many} = getelementptr [{value.number} x i8], {start}, {self.kind('i64')} {counts}"

    def _spread(self, value: Value) -> Iterator[str]:
        """Put what is the same in all lanes into all lanes."""
        many, kind = self.each(value), self.vector(value)
        yield f"  {many}.0 = insertelement {kind} poison, {type_of(value)} {self.one(value)}, i64 0"
        zeros = f"{self.kind('i32')} zeroinitializer"
        yield f"  {many} = shufflevector {kind} {many}.0, {kind} poison, {zeros}"

    def _counted(self, value: Value) -> Iterator[str]:
        """The last coordinate of each lane's thread."""
        many, kind = self.each(value), self.vector(value)
        yield f"  {many}.1 = insertelement {kind} poison, i32 {self.one(value)}, i64 0"
        yield f"  {many}.0 = shufflevector {kind} {many}.1, {kind} poison, {kind} zeroinitializer"
        numbers = ", ".join(f"i32 {lane}" for lane in range(self.lanes))
        yield f"  {many} = add {kind} {many}.0, <{numbers}>"

    def any(self, mask: Value) -> Generator[str, None, str]:
        """Ask whether any thread is in a mask."""
        if mask is self.flat.here:
            return "true"
        if self.strides[mask] == 0:
            return self.one(mask)
        return (yield from self._set(self.each(mask)))

    def _set(self, mask: str) -> Generator[str, None, str]:
        bits, some = self.new(), self.new()
        yield f"  {bits} = bitcast {self.kind('i1')} {mask} to i{self.lanes}"
        yield f"  {some} = icmp ne i{self.lanes} {bits}, 0"
        return some

    def _check(self, value: Value, label: str) -> Iterator[str]:
        """Go on if all is well in every lane that is asked."""
        first, mask, same = value.args[0], self.flat.masks.get(value), all(self.strides[a] == 0 for a in _asked(value))
        name, kind = (self.one, type_of(first)) if same else (self.each, self.vector(first))
        wrong, one = self.new(), "i1" if same else self.kind("i1")
        if value.op is Op.BOUNDS:  # unsigned, so that a negative index is above every length
            yield f"  {wrong} = icmp uge {kind} {name(first)}, {name(value.args[1])}"
        else:
            yield f"  {wrong} = xor {one} {name(first)}, {'true' if same else 'splat (i1 true)'}"
        if mask is not None and not (same and mask is self.flat.here):
            here = (yield from self.any(mask)) if same else self.each(mask)
            both = self.new()
            yield f"  {both} = and {one} {wrong}, {here}"
            wrong = both
        if not same:
            wrong = yield from self._set(wrong)
        yield f"  br i1 {wrong}, label %{self.leave}, label %{label}, !prof !6"
        yield f"{label}:"

    def _end(self, block: Block, after: str) -> Iterator[str]:
        if block.end.op is Op.RETURN:
            yield f"  br label %{after}"
        elif block.end.op is Op.JUMP:
            yield f"  br label %{self._first(block.edges[0])}"
        else:
            yes, no = map(self._first, block.edges)
            yield f"  br i1 {self.one(block.end.args[0])}, label %{yes}, label %{no}"

    def _first(self, edge: Edge) -> str:
        return f"lanes.{self._places[edge.target]}.0"


_WIDE = frozenset({*rows.ROWS, Op.CAST, Op.LOAD, Op.STORE, Op.OFFSET, Op.CONST, Op.EXTRACT, Op.TID, *_CHECKS})
_ALONE = {Op.ATOMIC: "an atomic operation", Op.PRINT: "what is printed"}
_GUARDS = (Op.LOAD, Op.STORE, *_CHECKS, *_TRAPS)
_GIVEN = (Op.CONST, Op.PARAM, Op.EXTRACT, Op.TID)


def _asked(value: Value) -> tuple[Value, ...]:
    """What a check looks at; what it tells besides is for the loop over single threads."""
    return value.args if value.op is Op.BOUNDS else value.args[:1]


def _traps(value: Value) -> bool:
    """Whether it may end the process in a lane that has no thread: a division whose divisor may be 0, or -1."""
    divisor = value.args[-1]
    return value.op in _TRAPS and not (divisor.op is Op.CONST and divisor.number not in (0, -1))


def scalar(value: Value) -> Scalar:
    """The scalar type of a value."""
    assert isinstance(value.type, Scalar)
    return value.type


def type_of(value: Value) -> str:
    """Write the type of a value in one lane."""
    return rows.TYPES[scalar(value).name]
