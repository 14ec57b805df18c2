"""Simplifies control flow: decided branches, unreachable blocks, redundant block parameters, chains of jumps."""

from __future__ import annotations

from dataclasses import replace

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.rebuild import keep, rebuild


def straighten(function: Function) -> Function:
    """Return the function a step straighter; one that is straight already is given back itself."""
    decided = tuple(map(_decide, function.blocks))
    if decided != function.blocks:
        function = replace(function, blocks=decided)
    function = _threaded(function)
    reached = cfg.reverse_postorder(function)
    redundant = _redundant(reached)
    if redundant or len(reached) < len(function.blocks):
        function = rebuild(function, keep, redundant)
    return function


def _decide(block: Block) -> Block:
    """Turn a branch that always goes one way into a jump."""
    if block.end.op is not Op.BRANCH:
        return block
    condition, (yes, no) = block.end.args[0], block.edges
    if condition.op is not Op.CONST and yes != no:
        return block
    taken = no if condition.op is Op.CONST and not condition.attr else yes
    return block._replace(end=Value(Op.JUMP, None, location=block.end.location), edges=(taken,))


def _threaded(function: Function) -> Function:
    """Let an edge that passes a constant to a block which only branches on it go where that branch goes.

    So ``if a and b`` branches twice, and what is known behind it is what both say. The way round a loop stays as it is.
    """
    turns = {block.label: block for block in function.blocks if _only_turns(block)}
    if not turns:
        return function
    home = {param: label for label, block in turns.items() for param in block.params}
    elsewhere = {
        arg
        for block in function.blocks
        for args in (*(value.args for value in block.body), block.end.args, *(edge.args for edge in block.edges))
        for arg in args
        if home.get(arg, block.label) != block.label
    }
    seen: set[str] = set()
    blocks = {block.label: block for block in function.blocks}
    for block in cfg.reverse_postorder(function):
        seen.add(block.label)
        edges = tuple(
            _turned(edge, turns[edge.target], elsewhere) if edge.target in turns and edge.target not in seen else edge
            for edge in block.edges
        )
        if edges != block.edges:
            blocks[block.label] = block._replace(edges=edges)
    changed = tuple(blocks.values())
    return function if changed == function.blocks else replace(function, blocks=changed)


def _only_turns(block: Block) -> bool:
    return not block.body and block.end.op is Op.BRANCH and block.end.args[0] in block.params


def _turned(edge: Edge, turn: Block, elsewhere: set[Value]) -> Edge:
    new = dict(zip(turn.params, edge.args))
    condition = new[turn.end.args[0]]
    if condition.op is not Op.CONST or not elsewhere.isdisjoint(turn.params):
        return edge
    taken = turn.edges[0 if condition.attr else 1]
    return Edge(taken.target, tuple(new.get(arg, arg) for arg in taken.args))


def _redundant(blocks: list[Block]) -> dict[Value, Value]:
    """Find the parameters to which every edge passes one and the same value, or the parameter itself.

    That value dominates the block: it is known at the end of each predecessor.
    """
    passed: dict[Value, set[Value]] = {param: set() for block in blocks for param in block.params}
    params = {block.label: block.params for block in blocks}
    for block in blocks:
        for edge in block.edges:
            for param, arg in zip(params[edge.target], edge.args):
                passed[param].add(arg)
    single = {param: values - {param} for param, values in passed.items()}
    return {param: next(iter(values)) for param, values in single.items() if len(values) == 1}


def join(function: Function) -> Function:
    """Append to each block the one that only it jumps to; such a block has no parameters that are not redundant."""
    blocks = {block.label: block for block in function.blocks}
    entries = {label: len(before) for label, before in cfg.predecessors(list(function.blocks)).items()}
    entries[function.blocks[0].label] += 1
    for label in list(blocks):
        while (block := blocks.get(label)) is not None and block.end.op is Op.JUMP:
            target = block.edges[0].target
            if entries[target] != 1 or target == label:
                break
            follower = blocks.pop(target)
            blocks[label] = follower._replace(label=label, params=block.params, body=block.body + follower.body)
    if len(blocks) == len(function.blocks):
        return function
    return replace(function, blocks=tuple(blocks.values()))
