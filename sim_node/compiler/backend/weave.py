"""Parts of neighbouring elements in vectors: whole elements are read or written, and shuffled into their parts.

Instead of a lane at a time: of positions x y z x y z … three vectors in a row are as many memory accesses, where lanes
that each go to their own x take one a lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sim_node.compiler.ir.function import Block, Value
from sim_node.compiler.ir.op import WRITES, Op
from sim_node.compiler.passes.flatten import Flat
from sim_node.dtypes import Scalar, bool_

_MOST = 16  # parts of an element
_SPARSE = 4  # so many parts are read for one that is used, and no more


@dataclass(frozen=True)
class Weave:
    """Accesses to parts of the same elements, which may be made at once, and how many parts an element has."""

    members: tuple[Value, ...]
    parts: int

    @property
    def address(self) -> Value:
        """Of the element."""
        return self.members[0].args[0]

    @property
    def kind(self) -> Scalar:
        """The type of each part."""
        return _moved(self.members[0])

    def part(self, member: Value) -> int:
        """Which part it is."""
        return member.number // self.kind.size


def weaves(block: Block, flat: Flat, strides: dict[Value, int | None]) -> Iterator[Weave]:
    """Find the accesses of a block that may be made at once: nothing between them reads what another one writes."""
    reads: dict[Value, list[Value]] = {}
    writes: list[Value] = []
    for value in block.body:
        if value.op not in (Op.LOAD, Op.STORE, Op.ATOMIC):
            continue
        if value.op in WRITES:
            yield from (weave for group in reads.values() for weave in _weave(group, strides))
            reads = {}
        some = flat.masks.get(value) is not flat.here
        alone = value.op is not Op.STORE or some
        if writes and (alone or value.args[0] is not writes[0].args[0]):
            yield from _weave(writes, strides)
            writes = []
        if value.op is not Op.ATOMIC and not some:
            if value.op is Op.LOAD:
                reads.setdefault(value.args[0], []).append(value)
            else:
                writes.append(value)
    yield from (weave for group in (*reads.values(), writes) if group for weave in _weave(group, strides))


def _weave(members: Sequence[Value], strides: dict[Value, int | None]) -> Iterator[Weave]:
    kind, address = _moved(members[0]), members[0].args[0]
    apart = strides[address]
    # the elements of an array, in a row: no more is read than the elements that the lanes have a right to
    row = address.op is Op.OFFSET and apart == address.number and strides[address.args[1]] == 1
    if not row or kind is bool_ or any(_moved(member) is not kind for member in members):
        return
    assert apart is not None
    parts = apart // kind.size
    used = {member.number for member in members}
    if apart % kind.size or not 1 < parts <= _MOST or any(at % kind.size or at >= apart for at in used):
        return
    whole = len(used) == len(members) == parts if members[0].op is Op.STORE else len(used) * _SPARSE >= parts
    if whole:
        yield Weave(tuple(members), parts)


def _moved(value: Value) -> Scalar:
    kind = value.args[1].type if value.op is Op.STORE else value.type
    assert isinstance(kind, Scalar)
    return kind


def apart(sources: Sequence[str], part: int, kind: str, lanes: int, name: str) -> Iterator[str]:
    """Take one part of each element out of the vectors that hold all of them in a row."""
    parts = len(sources)
    yield from _picked(sources, [divmod(lane * parts + part, lanes) for lane in range(lanes)], kind, name)


def together(sources: Sequence[str], row: int, kind: str, lanes: int, name: str) -> Iterator[str]:
    """Make one of the vectors in a row that hold all parts of each element."""
    parts = len(sources)
    elements = (divmod(row * lanes + at, parts) for at in range(lanes))
    yield from _picked(sources, [(part, lane) for lane, part in elements], kind, name)


def _picked(sources: Sequence[str], wanted: Sequence[tuple[int, int]], kind: str, name: str) -> Iterator[str]:
    """Make a vector of lanes of others, two at a time; ``wanted`` says of which and which lane."""
    lanes = len(wanted)
    vector = f"<{lanes} x {kind}>"
    used = sorted({source for source, _ in wanted})
    first, *others = used
    made, done = sources[first], {first}
    for step, other in enumerate(others or [None]):
        result = name if step >= len(others) - 1 else f"{name}.{step}"
        picks = []
        for at, (source, lane) in enumerate(wanted):
            if source == other:
                picks.append(f"i32 {lanes + lane}")
            else:
                picks.append(f"i32 {(lane if step == 0 else at)}" if source in done else "i32 poison")
        second = "poison" if other is None else sources[other]
        yield f"  {result} = shufflevector {vector} {made}, {vector} {second}, <{lanes} x i32> <{', '.join(picks)}>"
        made = result
        if other is not None:
            done.add(other)
