"""The IR: functions of basic blocks of immutable values, in SSA form with block parameters.

A value is identified by itself (``is``), never by equality: two equal additions are two values until CSE joins them.
A function is never changed: a pass returns another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sim_node.compiler.ir.op import Op
from sim_node.dtypes import Type
from sim_node.errors import Location

Attr = bool | int | float | str | None


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One operation and its result; ``type`` is None where there is no result."""

    op: Op
    type: Type | None
    args: tuple[Value, ...] = ()
    attr: Attr = None
    location: Location | None = None

    @property
    def number(self) -> int:
        """The attribute of an op that has a count there: a parameter, a component or a site."""
        assert isinstance(self.attr, int)
        return self.attr


@dataclass(frozen=True, slots=True)
class Edge:
    """A jump to a block with the arguments for its parameters."""

    target: str
    args: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A label, its parameters (op ARG), its values in order, and its end with the edges that leave it."""

    label: str
    params: tuple[Value, ...]
    body: tuple[Value, ...]
    end: Value  # JUMP (1 edge), BRANCH (2 edges: true, false) or RETURN (args are the results)
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """What a BOUNDS or CHECK reports.

    ``kind`` is 'index', 'division', 'overflow' or 'assert'; ``subject`` names the array or quotes the text.

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

    @property
    def written(self) -> frozenset[str]:
        """Names of the array parameters that a STORE of this function writes; those of its calls are not counted."""
        values = (value for block in self.blocks for value in block.body)
        arrays = {value.args[0] for value in values if value.op is Op.STORE}
        return frozenset(name for name, param in zip(self.names, self.params) if param in arrays)


@dataclass(frozen=True, slots=True)
class Module:
    """A kernel and the functions that it calls, by name; ``kernel`` names the entry."""

    kernel: str
    functions: dict[str, Function] = field(default_factory=dict)

    @property
    def entry(self) -> Function:
        """The kernel's function."""
        return self.functions[self.kernel]
