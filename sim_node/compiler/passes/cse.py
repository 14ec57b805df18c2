"""Joins equal pure values and equal checks: the second of two gives way to the first where the first dominates it.

A check that the thread has passed needs no second look; had it failed, the thread would have stopped at the first.
"""

from __future__ import annotations

from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import SIGNATURES, Op
from sim_node.compiler.ir.printer import attribute
from sim_node.compiler.passes.rebuild import each, rebuild

_Key = tuple[object, ...]
_CHECKS = frozenset({Op.BOUNDS, Op.CHECK})


def cse(module: Module) -> Module:
    """Return the module with each pure value computed, and each condition checked, once on every path."""
    return each(module, _function)


def _function(function: Function) -> Function:
    idom = cfg.dominators(cfg.reverse_postorder(function))
    seen: dict[_Key, dict[str, Value]] = {}  # by key, then by the block that computes it

    def rule(value: Value, label: str) -> Value | None:
        if not SIGNATURES[value.op].pure and value.op not in _CHECKS:
            return value
        computed = seen.setdefault(_key(value), {})
        above: str | None = label
        while computed and above is not None:
            if above in computed:
                return None if value.op is Op.CHECK else computed[above]
            above = idom[above]
        computed[label] = value
        return value

    return rebuild(function, rule)


def _key(value: Value) -> _Key:
    args = tuple(map(id, value.args))
    if SIGNATURES[value.op].commutes:
        args = tuple(sorted(args))
    attr = "" if value.op in _CHECKS else attribute(value.attr)  # a check's site says nothing of what it checks
    return (value.op, value.type, args, attr)  # as text, since 0.0 == -0.0 and nan != nan
