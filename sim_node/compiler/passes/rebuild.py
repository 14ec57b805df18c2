"""The walk that passes share: a function rewritten value by value, each after its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Module, Value

# Given a value with its new operands and the label of its block: the value that takes its place, or None to drop it.
Rule = Callable[[Value, str], Value | None]


def keep(value: Value, _label: str) -> Value:
    """Let every value stand."""
    return value


def each(module: Module, change: Callable[[Function], Function]) -> Module:
    """Apply a change to every function."""
    return Module(module.kernel, {name: change(function) for name, function in module.functions.items()})


def with_args(value: Value, args: tuple[Value, ...]) -> Value:
    """Give a value other operands; the value itself when they are the same."""
    if args == value.args:  # values compare by identity
        return value
    return Value(value.op, value.type, args, value.attr, value.location)  # replace() costs six times as much


def rebuild(function: Function, rule: Rule, instead: Mapping[Value, Value] | None = None) -> Function:
    """Rewrite the reachable blocks in dominance order.

    What the rule returns is placed where the value was, after what it is made of, unless that already stands above.
    ``instead`` replaces block
    parameters by values that dominate them. A function in which nothing changes comes back equal.
    """
    instead = instead or {}
    new: dict[Value, Value] = {value: value for value in function.params}
    placed = set(function.params)
    order = cfg.reverse_postorder(function)
    kept: dict[str, list[bool]] = {}
    drafts: list[tuple[Block, list[Value]]] = []
    for block in order:
        label = block.label
        kept[label] = [param not in instead for param in block.params]
        for param in block.params:
            new[param] = new[instead[param]] if param in instead else param
            placed.add(new[param])
        body: list[Value] = []
        for value in block.body:
            args = tuple([new[arg] for arg in value.args])
            given = value if args == value.args else with_args(value, args)  # a call for each takes longer than all
            result = rule(given, label)
            if result is None:
                continue
            new[value] = result
            if result is given:
                placed.add(result)
                body.append(result)
            else:
                _place(result, placed, body)
        drafts.append((block, body))
    blocks = []
    for block, body in drafts:  # edges last: a loop's edge back passes values from below
        edges = tuple(
            Edge(edge.target, tuple(new[arg] for arg, stays in zip(edge.args, kept[edge.target]) if stays))
            for edge in block.edges
        )
        params = tuple(param for param, stays in zip(block.params, kept[block.label]) if stays)
        end = with_args(block.end, tuple(new[arg] for arg in block.end.args))
        blocks.append(Block(block.label, params, tuple(body), end, edges))
    return replace(function, blocks=tuple(blocks))


def _place(value: Value, placed: set[Value], body: list[Value]) -> None:
    if value not in placed:
        for arg in value.args:
            _place(arg, placed, body)
        placed.add(value)
        body.append(value)
