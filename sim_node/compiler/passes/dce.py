"""Drops what nothing needs: pure values without a use, and block parameters that only feed themselves."""

from __future__ import annotations

from dataclasses import replace

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Module, Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.compiler.passes.rebuild import each


def dce(module: Module) -> Module:
    """Return the module with live values only."""
    return each(module, _function)


def _function(function: Function) -> Function:
    order = cfg.reverse_postorder(function)
    live = _live(order)
    stays = {block.label: [param in live for param in block.params] for block in order}
    blocks = []
    for block in order:
        edges = tuple(
            Edge(edge.target, tuple(arg for arg, kept in zip(edge.args, stays[edge.target]) if kept))
            for edge in block.edges
        )
        params = tuple(param for param in block.params if param in live)
        blocks.append(Block(block.label, params, tuple(v for v in block.body if v in live), block.end, edges))
    return replace(function, blocks=tuple(blocks))


def _live(order: list[Block]) -> set[Value]:
    """Follow operands back from all that has an effect; a parameter needs what the edges to it pass."""
    passed: dict[Value, list[Value]] = {param: [] for block in order for param in block.params}
    params = {block.label: block.params for block in order}
    for block in order:
        for edge in block.edges:
            for param, arg in zip(params[edge.target], edge.args):
                passed[param].append(arg)
    live: set[Value] = set()
    pending = [v for block in order for v in (*block.body, block.end) if not SIGNATURES[v.op].pure]
    while pending:
        value = pending.pop()
        if value not in live:
            live.add(value)
            pending += passed[value] if value.op is Op.ARG else value.args
    return live
