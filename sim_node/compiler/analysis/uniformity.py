"""What is the same for all threads that run in the lanes of one vector, and which branches part them.

The lanes of a vector are neighbours of a row: they differ in their last coordinate only, and run in step. So what is
computed from other values than that coordinate, or read at an address that is the same for all, is uniform.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Value
from sim_node.compiler.ir.op import Op

EXIT = ""  # of every function, behind its returns


class ObstacleError(Exception):
    """Why the threads of a function stay apart, in words for its author."""


@dataclass
class Divergence:
    """The blocks in order, what immediately follows each on every path, what varies, and what each branch that parts
    threads lets only some of them run: the labels between it and where all meet again."""

    order: list[Block]
    after: dict[str, str]
    varying: set[Value] = field(default_factory=set)
    regions: dict[str, set[str]] = field(default_factory=dict)


def divergence(function: Function) -> Divergence:
    """Tell what parts the threads of a row.

    Where all threads take a branch of which one way leads into what another branch lets only some run, as in
    ``same or varying``, it is taken for one that parts them.
    Raises ObstacleError for a loop that some threads leave before others, or that only some of them run.
    """
    order = cfg.reverse_postorder(function)
    found = Divergence(order, _postdominators(order))
    axis = max(function.dims, 1) - 1
    found.varying |= {v for b in order for v in b.body if v.op is Op.TID and v.number == axis}
    before, above, entered = cfg.predecessors(order), cfg.dominators(order), set[str | None]()
    while True:
        spread(order, found.varying)
        parting = [
            block for block in order
            if block.label not in found.regions and (block.label in entered or _parts(block, found.varying))
        ]  # fmt: skip
        if not parting:
            return found
        for block in parting:
            region = found.regions[block.label] = _between(block, found)
            _acyclic(block, region, order)
            inside = {block.label, *region}
            entered |= {above[each] for each in region if any(p.label not in inside for p in before[each])}
            for label in (*region, found.after[block.label]):
                if label != EXIT and len(before[label]) > 1:
                    found.varying.update(next(b for b in order if b.label == label).params)


def spread(order: list[Block], varying: set[Value]) -> None:
    """Add all that is computed from what varies."""
    params = {block.label: block.params for block in order}
    seen, again = set[str](), True
    while again:
        again = False
        for block in order:
            seen.add(block.label)
            for value in block.body:
                if not varying.isdisjoint(value.args):
                    varying.add(value)
            for edge in block.edges:
                more = [p for p, arg in zip(params[edge.target], edge.args) if arg in varying and p not in varying]
                varying.update(more)
                again = again or (bool(more) and edge.target in seen)  # a loop, whose head came before


def _parts(block: Block, varying: set[Value]) -> bool:
    return block.end.op is Op.BRANCH and block.end.args[0] in varying


def _between(block: Block, found: Divergence) -> set[str]:
    blocks = {each.label: each for each in found.order}
    stop, region = found.after[block.label], set[str]()
    pending = [edge.target for edge in block.edges]
    while pending:
        label = pending.pop()
        if label != stop and label not in region:
            region.add(label)
            pending += [edge.target for edge in blocks[label].edges]
    return region


def _acyclic(block: Block, region: set[str], order: list[Block]) -> None:
    rank = {each.label: at for at, each in enumerate(order)}
    for each in order:
        if each.label in region and any(e.target in region and rank[e.target] <= rank[each.label] for e in each.edges):
            raise ObstacleError("a loop runs for each thread as long as it needs, or for some threads only")
    if block.label in region:
        raise ObstacleError("a loop runs for each thread as long as it needs")


def _postdominators(order: list[Block]) -> dict[str, str]:
    """Give each block the next one that every path from it comes to, or EXIT."""
    into: dict[str, list[Edge]] = {EXIT: [], **{block.label: [] for block in order}}
    for block in order:
        for edge in block.edges or (Edge(EXIT),):
            into[edge.target].append(Edge(block.label))
    end = order[0].end
    entry = Block(EXIT, (), (), end, tuple(into[EXIT]))
    turned = [entry, *(block._replace(params=(), body=(), edges=tuple(into[block.label])) for block in order)]
    reached = cfg.reverse_postorder(Function("", (), (), (), tuple(turned)))
    if len(reached) < len(turned):
        raise ObstacleError("a loop does not end")
    return {label: above for label, above in cfg.dominators(reached).items() if above is not None}


def chain(label: str, above: dict[str, str]) -> Iterator[str]:
    """Follow what comes after a block on every path."""
    while label != EXIT:
        label = above[label]
        yield label
