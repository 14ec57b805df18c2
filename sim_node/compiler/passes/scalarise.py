"""Takes vectors apart, so that the passes behind it and the back ends know scalars and arrays only.

A vector parameter of the kernel keeps its type; its components are EXTRACTs at the head of the entry. Elements of
vector arrays are moved one component at a time, which LLVM joins again, across components or across threads.
"""

from __future__ import annotations

from dataclasses import replace

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.rebuild import each, with_args
from sim_node.dtypes import Scalar, Type, Vector


def scalarise(module: Module) -> Module:
    """Return the module without vectors; it holds no calls any more."""
    return each(module, _function)


def _function(function: Function) -> Function:
    parts: dict[Value, tuple[Value, ...]] = {}
    heads: list[Value] = []
    for param in function.params:
        if isinstance(param.type, Vector):
            parts[param] = tuple(Value(Op.EXTRACT, param.type.scalar, (param,), i) for i in range(param.type.length))
            heads += parts[param]
        else:
            parts[param] = (param,)
    drafts: list[tuple[Block, list[Value]]] = []
    for block in cfg.reverse_postorder(function):
        for param in block.params:
            parts[param] = _components(param)
        body, heads = heads, []
        for value in block.body:
            parts[value], placed = _value(value, parts)
            body += placed
        drafts.append((block, body))
    return replace(function, blocks=tuple(_block(block, body, parts) for block, body in drafts))


def _components(param: Value) -> tuple[Value, ...]:
    if isinstance(param.type, Vector):
        return tuple(replace(param, type=param.type.scalar) for _ in range(param.type.length))
    return (param,)


def _value(value: Value, parts: dict[Value, tuple[Value, ...]]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Give the components of a value, and those of them that are new."""
    args = [parts[arg] for arg in value.args]
    if value.op is Op.VECTOR:
        return tuple(part for (part,) in args), ()
    if value.op is Op.EXTRACT:
        return (args[0][value.number],), ()
    moved: Type | None = value.args[2].type if value.op is Op.STORE else value.type
    if not isinstance(moved, Vector):
        made = (with_args(value, tuple(arg[0] for arg in args)),)
        return made, made
    memory = value.op in (Op.LOAD, Op.STORE)
    kind: Scalar | None = None if value.type is None else moved.scalar
    split = tuple(
        # An operand with one part is an array, an index or a condition: the same for every component.
        Value(
            value.op,
            kind,
            tuple(arg[i if len(arg) > 1 else 0] for arg in args),
            i if memory else value.attr,
            value.location,
        )
        for i in range(moved.length)
    )
    return split, split


def _block(block: Block, body: list[Value], parts: dict[Value, tuple[Value, ...]]) -> Block:
    edges = tuple(Edge(edge.target, tuple(part for arg in edge.args for part in parts[arg])) for edge in block.edges)
    params = tuple(part for param in block.params for part in parts[param])
    end = with_args(block.end, tuple(part for arg in block.end.args for part in parts[arg]))
    return Block(block.label, params, tuple(body), end, edges)
