"""Takes types of several leaves apart, so that the passes behind it and the back ends know scalars and addresses only.

A parameter of the kernel keeps its type; its leaves are EXTRACTs at the head of the entry. What is in memory is moved a
leaf at a time, which LLVM joins again, across leaves or across threads.
"""

from __future__ import annotations

from dataclasses import replace

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.ir.rules import leaves
from sim_node.compiler.passes.rebuild import each, with_args
from sim_node.dtypes import Scalar

Parts = tuple[Value, ...]


def scalarise(module: Module) -> Module:
    """Return the module without types of several leaves; it holds no calls any more."""
    return each(module, _function)


def _function(function: Function) -> Function:
    parts: dict[Value, Parts] = {}
    heads: list[Value] = []
    # what is there already stays itself, so that a second run changes nothing
    there = {(v.args[0], v.attr): v for v in function.blocks[0].body if v.op is Op.EXTRACT and _is_leaf(v)}
    for param in function.params:
        if isinstance(param.type, Scalar):
            parts[param] = (param,)
        else:
            parts[param] = tuple(
                there.get((param, i)) or Value(Op.EXTRACT, leaf.scalar, (param,), i)
                for i, leaf in enumerate(leaves(param.type))
            )
            heads += parts[param]
    drafts: list[tuple[Block, list[Value]]] = []
    for block in cfg.reverse_postorder(function):
        for param in block.params:
            parts[param] = (param,) if isinstance(param.type, Scalar) else tuple(
                Value(Op.ARG, leaf.scalar, location=param.location) for leaf in leaves(param.type)
            )  # fmt: skip
        body, heads = heads, []
        for value in block.body:
            parts[value], placed = _value(value, parts)
            body += placed
        drafts.append((block, body))
    return replace(function, blocks=tuple(_block(block, body, parts) for block, body in drafts))


def _is_leaf(value: Value) -> bool:
    return value.args[0].op is Op.PARAM and isinstance(value.type, Scalar)


def _value(value: Value, parts: dict[Value, Parts]) -> tuple[Parts, Parts]:
    """Give the leaves of a value, and those of them that are new."""
    args = [parts[arg] for arg in value.args]
    if value.op is Op.MAKE:
        return tuple(part for arg in args for part in arg), ()
    if value.op is Op.EXTRACT:
        return args[0][value.number : value.number + len(leaves(value.type))], ()
    moved = value.args[1].type if value.op is Op.STORE else value.type
    if moved is None or isinstance(moved, Scalar):
        made = (with_args(value, tuple([arg[0] for arg in args])),)
        return made, made
    memory = value.op in (Op.LOAD, Op.STORE)
    split = tuple(
        Value(
            value.op,
            None if value.type is None else leaf.scalar,
            # a scalar operand is a condition or an address: the same for every leaf
            tuple([arg[0] if isinstance(one.type, Scalar) else arg[i] for one, arg in zip(value.args, args)]),
            value.number + leaf.offset if memory else value.attr,
            value.location,
        )
        for i, leaf in enumerate(moved.leaves)
    )
    return split, split


def _block(block: Block, body: list[Value], parts: dict[Value, Parts]) -> Block:
    edges = tuple(Edge(edge.target, tuple(part for arg in edge.args for part in parts[arg])) for edge in block.edges)
    params = tuple(part for param in block.params for part in parts[param])
    end = with_args(block.end, tuple(part for arg in block.end.args for part in parts[arg]))
    return Block(block.label, params, tuple(body), end, edges)
