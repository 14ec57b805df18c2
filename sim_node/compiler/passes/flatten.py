"""Turns branches that part the threads of a vector into masks: all run both sides, each in its own lanes.

Allen, Kennedy, Porterfield and Warren (1983), "Conversion of Control Dependence to Data Dependence"; that only what
parts threads is turned so, and the rest stays a branch or a loop, is Karrenberg and Hack's (2012), "Improving
Performance of OpenCL on CPUs".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sim_node.compiler.analysis.uniformity import EXIT, Divergence, chain, divergence
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.rebuild import with_args
from sim_node.dtypes import bool_

# What must not happen in a lane whose thread is elsewhere; all else may, and its result is not used.
_GUARDED = frozenset({Op.LOAD, Op.STORE, Op.ATOMIC, Op.QUOT, Op.REM, Op.BOUNDS, Op.CHECK})

_Entry = tuple[Value | None, Edge]  # an edge, and the mask of the threads that take it; None: all do


@dataclass(frozen=True)
class Flat:
    """A function in which all threads take the same branches, and what of it only the threads of a mask do."""

    function: Function
    masks: dict[Value, Value]
    here: Value | None = None


def flatten(function: Function, partial: bool = False) -> Flat:
    """Return the function without branches that part threads.

    If not all lanes have threads (``partial``), the mask ``here`` of those that have is every other's beginning.
    Raises ObstacleError where masks cannot stand for what threads run each for itself.
    """
    here = Value(Op.ARG, bool_) if partial else None
    return _Flattening(function, divergence(function), here).flat()


@dataclass
class _Draft:
    block: Block
    body: list[Value] = field(default_factory=list)
    end: Value | None = None
    edges: tuple[Edge, ...] = ()


class _Flattening:
    def __init__(self, function: Function, found: Divergence, here: Value | None) -> None:
        self.function, self.found, self.here = function, found, here
        self.before = cfg.predecessors(found.order)
        self.idom = cfg.dominators(found.order)
        self.new: dict[Value, Value] = {}
        self.masks: dict[Value, Value] = {}
        self.body: list[Value] = []

    def flat(self) -> Flat:
        """Keep the blocks that all threads run, each followed by what only some do."""
        partial = set[str]().union(*self.found.regions.values())
        drafts = []
        for block in self.found.order:
            if block.label in partial:
                continue
            draft = _Draft(block)
            self.body = draft.body
            self._values(block, self.here)
            if block.label in self.found.regions:
                draft.end, draft.edges = self._joined(block)
            drafts.append(draft)
        # edges last: a loop's edge back passes values from below
        blocks = tuple(
            Block(
                draft.block.label,
                draft.block.params,
                tuple(draft.body),
                draft.end or self._made(draft.block.end),
                draft.edges or tuple(self._edge(edge) for edge in draft.block.edges if draft.end is None),
            )
            for draft in drafts
        )
        return Flat(replace(self.function, blocks=blocks), self.masks, self.here)

    def _made(self, value: Value) -> Value:
        return with_args(value, tuple(self.new.get(arg, arg) for arg in value.args))

    def _edge(self, edge: Edge) -> Edge:
        return Edge(edge.target, tuple(self.new.get(arg, arg) for arg in edge.args))

    def _values(self, block: Block, mask: Value | None) -> None:
        for value in block.body:
            made = self.new[value] = self._made(value)
            self.body.append(made)
            if mask is not None and made.op in _GUARDED:
                self.masks[made] = mask

    def _joined(self, head: Block) -> tuple[Value, tuple[Edge, ...]]:
        """Run a region in a row behind its branch, up to where all threads meet; give the end that goes on there."""
        region, stop = self.found.regions[head.label], self.found.after[head.label]
        entries: dict[str, list[_Entry]] = {label: [] for label in (*region, stop)}
        masks: dict[str, Value | None] = {head.label: self.here}
        self._leave(head, self.here, entries)
        for block in self.found.order:
            if block.label not in region:
                continue
            assert all(other.label in masks for other in self.before[block.label]), "a region is entered by its head"
            mask = masks[block.label] = self._mask(block.label, masks, entries[block.label])
            for at, param in enumerate(block.params):
                self.new[param] = self._chosen(entries[block.label], at)
            self._values(block, mask)
            self._leave(block, mask, entries)
        if stop == EXIT:
            return Value(Op.RETURN, None), ()
        count = len(entries[stop][0][1].args)
        args = tuple(self._chosen(entries[stop], at) for at in range(count))
        return Value(Op.JUMP, None, location=head.end.location), (Edge(stop, args),)

    def _leave(self, block: Block, mask: Value | None, entries: dict[str, list[_Entry]]) -> None:
        edges = [self._edge(edge) for edge in block.edges] or [Edge(EXIT)]
        if len(edges) == 1:
            entries[edges[0].target].append((mask, edges[0]))
            return
        condition = self.new.get(block.end.args[0], block.end.args[0])
        for edge, taken in zip(edges, (condition, self._place(Op.INVERT, condition))):
            entries[edge.target].append((taken if mask is None else self._place(Op.AND, mask, taken), edge))

    def _mask(self, label: str, masks: dict[str, Value | None], entries: Sequence[_Entry]) -> Value | None:
        """The threads that come to a block: those of the block above, if every path from there leads here."""
        above = self.idom[label]
        if above is not None and label in chain(above, self.found.after):
            return masks[above]
        mask = entries[0][0]
        for other, _ in entries[1:]:
            mask = None if mask is None or other is None else self._place(Op.OR, mask, other)
        return mask

    def _chosen(self, entries: Sequence[_Entry], at: int) -> Value:
        """What each thread brings along; that of a thread which does not come is of no account."""
        chosen = entries[-1][1].args[at]
        for mask, edge in reversed(entries[:-1]):
            if edge.args[at] is not chosen:
                chosen = edge.args[at] if mask is None else self._place(Op.SELECT, mask, edge.args[at], chosen)
        return chosen

    def _place(self, op: Op, *args: Value) -> Value:
        made = Value(op, args[1].type if op is Op.SELECT else bool_, args)
        self.body.append(made)
        return made
