"""Joins equal pure values: the second of two gives way to the first where the first dominates it."""

from __future__ import annotations

from collections import ChainMap

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import SIGNATURES
from sim_node.compiler.ir.printer import attribute
from sim_node.compiler.passes.rebuild import each, rebuild

_Key = tuple[object, ...]


def cse(module: Module) -> Module:
    """Return the module with each pure value computed once on every path."""
    return each(module, _function)


def _function(function: Function) -> Function:
    idom = cfg.dominators(cfg.reverse_postorder(function))
    seen: dict[str | None, ChainMap[_Key, Value]] = {None: ChainMap()}
    for label, parent in idom.items():  # in reverse postorder: a dominator's scope is there before those inside it
        seen[label] = seen[parent].new_child()

    def rule(value: Value, label: str) -> Value:
        if not SIGNATURES[value.op].pure:
            return value
        return seen[label].setdefault(_key(value), value)

    return rebuild(function, rule)


def _key(value: Value) -> _Key:
    args = tuple(map(id, value.args))
    if SIGNATURES[value.op].commutes:
        args = tuple(sorted(args))
    return (value.op, value.type, args, attribute(value.attr))  # as text, since 0.0 == -0.0 and nan != nan
