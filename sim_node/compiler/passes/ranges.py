"""Drops the checks that pass in every run, and decides the comparisons that come out the same in every run.

``x[i]`` under ``if i < x.shape[0]``, the count of a loop over an array, the result of ``%`` by an extent and the like.
"""

from __future__ import annotations

from collections.abc import Callable

from sim_node.compiler.analysis.facts import Spot
from sim_node.compiler.analysis.interval import intervals
from sim_node.compiler.analysis.premise import ALWAYS
from sim_node.compiler.analysis.proof import ORDERED, Prover
from sim_node.compiler.ir import cfg
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.cse import cse
from sim_node.compiler.passes.dce import dce
from sim_node.compiler.passes.fold import fold
from sim_node.compiler.passes.rebuild import each, rebuild
from sim_node.dtypes import bool_


def ranges(module: Module) -> Module:
    """Return the module without what the ranges of its values decide."""
    if all(_clear(function) for function in module.functions.values()):
        return module
    decided = each(module, _decided)
    if decided != module:
        decided = cse(fold(decided))
    return dce(fold(each(decided, _passed)))


def is_check(value: Value) -> bool:
    """Whether a value may stop the thread."""
    return value.op in (Op.BOUNDS, Op.CHECK)


def is_own(value: Value, function: Function) -> bool:
    """Whether a value checks the coordinate along a row against an extent, which is for a launch to decide."""
    if value.op is not Op.BOUNDS:
        return False
    index, length = value.args
    return index.op is Op.TID and index.number == max(function.dims, 1) - 1 and length.op is Op.EXTRACT


def replaced(function: Function, change: Callable[[Value, Value], Value | None]) -> Function:
    """Rewrite a function by a rule that is given each value as it was, and with its new operands."""
    walked = (value for block in cfg.reverse_postorder(function) for value in block.body)  # as rebuild walks
    return rebuild(function, lambda value, _label: change(next(walked), value))


def _clear(function: Function) -> bool:
    """Whether nothing in it compares what its checks are of: coordinates and constants with extents."""
    given = (Op.TID, Op.CONST, Op.EXTRACT)
    for block in function.blocks:
        for value in block.body:
            if value.op is Op.CHECK or (value.op is Op.BOUNDS and any(arg.op not in given for arg in value.args)):
                return False
            if value.op in ORDERED and any(arg.op in (Op.TID, Op.EXTRACT) for arg in value.args):
                return False
    return True


def _decided(function: Function) -> Function:
    known = intervals(cfg.reverse_postorder(function))

    def change(original: Value, value: Value) -> Value:
        low, high = known.get(original, (0, 1))
        if value.op not in ORDERED or low != high:
            return value
        return Value(Op.CONST, bool_, attr=bool(low), location=value.location)

    return replaced(function, change)


def _passed(function: Function) -> Function:
    prover = Prover(function)
    passed = set()
    for block in prover.order:
        for position, value in enumerate(block.body):
            if is_check(value) and prover.check(value, Spot(block.label, position)).premise == ALWAYS:
                passed.add(value)

    def change(original: Value, value: Value) -> Value | None:
        if original not in passed:
            return value
        return value.args[0] if value.op is Op.BOUNDS else None

    return replaced(function, change)
