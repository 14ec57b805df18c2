"""The passes in their order, the verifier after each."""

from __future__ import annotations

from sim_node.compiler.ir.function import Module, Value
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.cse import cse
from sim_node.compiler.passes.dce import dce
from sim_node.compiler.passes.fold import fold
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.passes.ranges import ranges
from sim_node.compiler.passes.scalarise import scalarise

# Vectors go early, so that folding, CSE and DCE know scalars only.
PASSES = (inline, scalarise, fold, cse, ranges, dce)


def optimise(module: Module) -> Module:
    """Run every pass on a verified module.

    Raises VerifyError, which is a fault of the compiler, if one of them leaves a wrong module.
    """
    known = set[Value]()
    for change in PASSES:
        changed = change(module)
        if changed is not module:
            module = verify(changed, change.__name__, known)
    return module
