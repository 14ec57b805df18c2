"""Checks what every pass relies on: structure, types and dominance, after lowering and after each pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Block, Function, Module, Value
from sim_node.compiler.ir.op import ALL, ENDS, SIGNATURES, Op, Rule
from sim_node.compiler.ir.rules import RULES
from sim_node.dtypes import Scalar, Type, bool_

EDGES = {Op.JUMP: 1, Op.BRANCH: 2, Op.RETURN: 0}
# what is right or wrong by the function and the module that it is in, too
_SURROUNDED = frozenset({Op.BOUNDS, Op.CHECK, Op.CALL, Op.RETURN})
_PLACED_ELSEWHERE = ENDS | {Op.PARAM, Op.ARG}


class VerifyError(AssertionError):
    """The compiler made a wrong module: a fault of ours, not of the kernel's author."""


def verify(module: Module, after: str = "lowering", known: set[Value] | None = None) -> Module:
    """Return the module, or raise VerifyError naming function, block, value and rule.

    ``known`` holds the values whose types were found right before, and gets those of this module: values do not change,
    so from pass to pass only the new ones are looked at. Where they stand is checked every time.
    """
    for fault in _faults(module, set() if known is None else known):
        raise VerifyError(f"after {after}, {fault}")
    return module


def _faults(module: Module, known: set[Value]) -> Iterator[str]:
    if module.kernel not in module.functions:
        yield f"the module has no function '{module.kernel}'"
        return
    if module.entry.results:
        yield f"kernel '{module.kernel}' has results"
    if cycle := _recursion(module):
        yield f"functions call each other in a circle: {' → '.join(cycle)}"
    for name, function in module.functions.items():
        for where, rule in _function(function, module, known):
            yield f"function '{name}', {where}: {rule}"


def _recursion(module: Module) -> list[str]:
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done or name not in module.functions:
            return []
        done.add(name)
        calls = [v.attr for b in module.functions[name].blocks for v in b.body if v.op is Op.CALL]
        return next(filter(None, (visit(str(callee), [*path, name]) for callee in calls)), [])

    return visit(module.kernel, [])


def _function(function: Function, module: Module, known: set[Value]) -> Iterator[tuple[str, str]]:
    if not function.blocks:
        yield "blocks", "there are none"
        return
    if len(function.names) != len(function.params):
        yield "parameters", f"{len(function.names)} names for {len(function.params)} parameters"
    for i, value in enumerate(function.params):
        if value.op is not Op.PARAM or value.attr != i or value.type is None:
            yield f"parameter {i}", "is not a PARAM with its index and a type"
    if function.blocks[0].params:
        yield f"block {function.blocks[0].label}", "the entry has parameters"
    labels = [block.label for block in function.blocks]
    if len(set(labels)) != len(labels):
        yield "blocks", "two have the same label"
        return
    targets = {block.label: block for block in function.blocks}
    structural = [fault for block in function.blocks for fault in _structure(block, targets)]
    yield from structural
    if structural:  # dominance has a meaning only on a graph that is whole
        return
    for block in function.blocks:
        for value in (*block.body, block.end):
            if value in known:
                continue
            op = value.op
            fault = _signed(op, value.type, tuple([arg.type for arg in value.args]))
            if fault is None and op in RULES:
                fault = RULES[op](value, function, module)
            if fault:
                yield _where(block, value), fault
            elif op not in _SURROUNDED:
                known.add(value)
    yield from _dominance(function)


def _structure(block: Block, targets: dict[str, Block]) -> Iterator[tuple[str, str]]:
    if block.end.op not in ENDS:
        yield _where(block, block.end), "is not the end of a block"
    elif len(block.edges) != EDGES[block.end.op]:
        yield _where(block, block.end), f"has {len(block.edges)} edges"
    for value in block.params:
        if value.op is not Op.ARG or value.type is None:
            yield _where(block, value), "is not an ARG with a type"
    for value in block.body:
        if value.op in _PLACED_ELSEWHERE:
            yield _where(block, value), "stands in the middle of a block"
    for edge in block.edges:
        if edge.target not in targets:
            yield _where(block, block.end), f"goes to '{edge.target}', which does not exist"
        elif [a.type for a in edge.args] != [p.type for p in targets[edge.target].params]:
            yield _where(block, block.end), f"the arguments of the edge to '{edge.target}' do not fit its parameters"


@lru_cache(4096)
def _signed(op: Op, result: Type | None, types: tuple[Type | None, ...]) -> str | None:
    """Hold types against the op's row; the same few meet all the time."""
    row = SIGNATURES[op]
    if row.arity is not None and len(types) != row.arity:
        return f"takes {row.arity} operands, has {len(types)}"
    for kind in types:
        if kind is None:
            return "an operand has no value"
        if row.kinds != ALL and not all(leaf.scalar.kind.value in row.kinds for leaf in kind.leaves):
            return f"does not take {kind!r}"
    if (row.rule is Rule.NONE) != (result is None) and op is not Op.CALL:
        return f"has the result type {result!r}"
    if row.rule is Rule.SAME and types.count(result) != len(types):
        return f"operands {list(types)} and result {result!r} differ"
    if row.rule is Rule.BOOL:
        if result is not bool_ or len(set(types)) != 1:
            return f"compares {list(types)}, giving {result!r}"
        if not isinstance(types[0], Scalar):
            return "compares more than scalars"
    return None


def _dominance(function: Function) -> Iterator[tuple[str, str]]:
    order = cfg.reverse_postorder(function)
    idom = cfg.dominators(order)
    above: dict[str | None, frozenset[str]] = {None: frozenset()}  # a block and all that dominate it
    home = dict.fromkeys(function.params, order[0].label)
    for block in order:
        label = block.label
        inside = above[label] = above[idom[label]] | {label}
        for value in (*block.params, *block.body, block.end):
            if value in home:
                yield _where(block, value), "is placed twice"
            for arg in value.args:
                if (where := home.get(arg)) is not label and where not in inside:
                    yield _where(block, value), "uses a value that does not dominate it"
            home[value] = label
        for edge in block.edges:
            for arg in edge.args:
                if home.get(arg) not in inside:
                    yield _where(block, block.end), "passes on a value that does not dominate it"


def _where(block: Block, value: Value) -> str:
    everything = (*block.params, *block.body, block.end)
    place = next(i for i, other in enumerate(everything) if other is value)
    return f"block {block.label}, value {place} ({value.op.name}{'' if value.type is None else f' {value.type!r}'})"
