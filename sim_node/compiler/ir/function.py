"""The IR: functions of basic blocks of immutable values, in SSA form with block parameters.

A value is identified by itself (``is``), never by equality: two equal additions are two values until CSE joins them.
A function is never changed: a pass returns another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sim_node.compiler.ir.op import WRITES, Op
from sim_node.dtypes import Type, pointer
from sim_node.errors import Location

Attr = bool | int | float | str | None


class Value:
    """One operation and its result; ``type`` is None where there is no result. It never changes.

    A plain class: a frozen dataclass takes four times as long to make, and there is nothing that is made more often.
    """

    __slots__ = ("args", "attr", "location", "op", "type")

    def __init__(
        self,
        op: Op,
        type: Type | None,
        args: tuple[Value, ...] = (),
        attr: Attr = None,
        location: Location | None = None,
    ) -> None:
        self.op: Final = op
        self.type: Final = type
        self.args: Final = args
        self.attr: Final = attr
        self.location: Final = location

    def __repr__(self) -> str:
        """Name the operation, for whoever debugs the compiler."""
        return f"<{self.op.name} {self.type!r} of {len(self.args)}, {self.attr!r}>"

    @property
    def number(self) -> int:
        """The attribute of an op that has a count there: a parameter, a coordinate, a leaf, bytes or a site."""
        assert isinstance(self.attr, int)
        return self.attr


class Edge(NamedTuple):
    """A jump to a block with the arguments for its parameters."""

    target: str
    args: tuple[Value, ...] = ()


class Block(NamedTuple):
    """A label, its parameters (op ARG), its values in order, and its end with the edges that leave it."""

    label: str
    params: tuple[Value, ...]
    body: tuple[Value, ...]
    end: Value  # JUMP (1 edge), BRANCH (2 edges: true, false) or RETURN (args are the results)
    edges: tuple[Edge, ...] = ()


class Site(NamedTuple):
    """What a BOUNDS or CHECK reports, or how a PRINT writes its words.

    ``kind`` is 'index', or of an array of several dimensions 'index 0', 'index 1' …; 'division', 'overflow' or
    'assert', of one that compares as in 'assert f32 <'. ``subject`` names the array or quotes the text;
    of a 'print' it is the format, as C's printf has it.

    Sites live beside the code and are not part of its digest: a comment added above a kernel recompiles nothing.
    """

    kind: str
    subject: str
    location: Location | None


@dataclass(frozen=True, slots=True)
class Function:
    """Parameters (op PARAM, in order), result types, and blocks; the first block is the entry and has no parameters."""

    name: str
    params: tuple[Value, ...]
    names: tuple[str, ...]  # of the parameters, as the user wrote them; not part of the digest
    results: tuple[Type, ...]
    blocks: tuple[Block, ...]
    sites: tuple[Site, ...] = ()
    dims: int = 0  # coordinates that its tid() has, 0 where it never asks

    @property
    def coordinates(self) -> int:
        """How many coordinates the thread's indices that are left in it reach to."""
        axes = (value.number for block in self.blocks for value in block.body if value.op is Op.TID)
        return max(axes, default=-1) + 1

    @property
    def written(self) -> frozenset[str]:
        """Names of the parameters with arrays that this function writes; those of its calls are not counted.

        An address is followed back to wherever it may come from: one read from memory, to what was read.
        """
        sources = self._sources()
        pending = [v.args[0] for block in self.blocks for v in block.body if v.op in WRITES]
        seen = set(pending)
        while pending:
            value = pending.pop()
            addresses = (source for source in sources.get(value, value.args) if _has_address(source.type))
            fresh = [source for source in addresses if source not in seen]
            seen.update(fresh)
            pending += fresh
        return frozenset(name for name, param in zip(self.names, self.params) if param in seen)

    def _sources(self) -> dict[Value, list[Value]]:
        """What the edges pass to each block's parameters."""
        params = {block.label: block.params for block in self.blocks}
        passed: dict[Value, list[Value]] = {param: [] for block in self.blocks for param in block.params}
        for block in self.blocks:
            for edge in block.edges:
                for param, arg in zip(params[edge.target], edge.args):
                    passed[param].append(arg)
        return passed


def _has_address(kind: Type | None) -> bool:
    return kind is not None and any(leaf.scalar is pointer for leaf in kind.leaves)


@dataclass(frozen=True, slots=True)
class Module:
    """A kernel and the functions that it calls, by name; ``kernel`` names the entry."""

    kernel: str
    functions: dict[str, Function] = field(default_factory=dict)

    @property
    def entry(self) -> Function:
        """The kernel's function."""
        return self.functions[self.kernel]
