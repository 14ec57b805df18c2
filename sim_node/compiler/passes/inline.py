"""Puts the body of every called function in the place of its call, so that one function is left.

Functions of the kernel language are small and never recursive. The digest is taken after this pass: moving code into a
func, or out of one, recompiles nothing.
"""

from __future__ import annotations

from dataclasses import replace

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Edge, Function, Module, Site, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.rebuild import with_args
from sim_node.errors import Location

_SITED = (Op.BOUNDS, Op.CHECK, Op.PRINT)


def inline(module: Module) -> Module:
    """Return the module with the kernel's function only; locations and sites get their chain of callers."""
    if len(module.functions) == 1:
        return module
    flat: dict[str, Function] = {}

    def flatten(name: str) -> Function:
        if name not in flat:
            function = module.functions[name]
            callees = {str(v.attr): None for b in function.blocks for v in b.body if v.op is Op.CALL}
            flat[name] = _expand(function, {callee: flatten(callee) for callee in callees})
        return flat[name]

    return Module(module.kernel, {module.kernel: flatten(module.kernel)})


def _expand(function: Function, callees: dict[str, Function]) -> Function:
    if not callees:
        return function
    new: dict[Value, Value] = {param: param for param in function.params}
    sites = list(function.sites)
    blocks: list[Block] = []
    for block in cfg.reverse_postorder(function):
        new.update({param: param for param in block.params})
        label, params, body = block.label, block.params, list[Value]()
        for value in block.body:
            moved = with_args(value, tuple([new[arg] for arg in value.args]))
            if value.op is not Op.CALL:
                new[value] = moved
                body.append(moved)
                continue
            copied = _copy(callees[str(value.attr)], moved, f"{label}_{len(blocks)}", len(sites))
            jump = Value(Op.JUMP, None, location=value.location)
            blocks += [Block(label, params, tuple(body), jump, (Edge(copied[0].label),)), *copied]
            sites += [_called(site, value.location) for site in callees[str(value.attr)].sites]
            label, body = _after(copied[0].label), []
            types = callees[str(value.attr)].results
            params = tuple([Value(Op.ARG, type, location=value.location) for type in types])
            new.update(zip((value,), params))
            if len(params) > 1:  # the call gives them as one value
                new[value] = Value(Op.MAKE, value.type, params, location=value.location)
                body.append(new[value])
        blocks.append(Block(label, params, tuple(body), block.end, block.edges))
    dims = max([function.dims, *(callee.dims for callee in callees.values())])
    return replace(function, blocks=tuple(_resolve(block, new) for block in blocks), sites=tuple(sites), dims=dims)


def _copy(callee: Function, call: Value, prefix: str, first_site: int) -> list[Block]:
    """Copy a flat callee; its returns jump to the block after the call."""
    new: dict[Value, Value] = dict(zip(callee.params, call.args))
    labels = {block.label: f"{prefix}_{i}" for i, block in enumerate(callee.blocks)}
    drafts = []
    for block in cfg.reverse_postorder(callee):
        for param in block.params:
            new[param] = Value(Op.ARG, param.type, location=_under(param.location, call.location))
        for value in block.body:
            attr = value.number + first_site if value.op in _SITED else value.attr
            args = tuple([new[arg] for arg in value.args])
            new[value] = Value(value.op, value.type, args, attr, _under(value.location, call.location))
        edges = tuple(Edge(labels[edge.target], edge.args) for edge in block.edges)
        last = block.end
        end = Value(last.op, last.type, last.args, last.attr, last.location)  # a value of its own in each copy
        if end.op is Op.RETURN:
            edges, end = (Edge(_after(f"{prefix}_0"), end.args),), Value(Op.JUMP, None, location=end.location)
        body = tuple(new[value] for value in block.body)
        drafts.append(Block(labels[block.label], tuple(new[p] for p in block.params), body, end, edges))
    return [_resolve(block, new) for block in drafts]


def _resolve(block: Block, new: dict[Value, Value]) -> Block:
    """Give the end of a block its new operands; those made here already are their own."""
    edges = tuple([Edge(edge.target, tuple([new.get(arg, arg) for arg in edge.args])) for edge in block.edges])
    end = with_args(block.end, tuple([new.get(arg, arg) for arg in block.end.args]))
    return Block(block.label, block.params, block.body, end, edges)


def _after(first: str) -> str:
    return f"{first}_after"


def _called(site: Site, caller: Location | None) -> Site:
    return site._replace(location=_under(site.location, caller))


def _under(location: Location | None, caller: Location | None) -> Location | None:
    """Hang a caller under the end of a location's chain."""
    if location is None:
        return caller
    inner = _under(location.caller, caller)
    return Location(location.file, location.line, location.column, location.text, location.inside, inner)
