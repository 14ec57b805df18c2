"""From a kernel to a program for CPython: the front end, for its refusals and types, and no code generation."""

from __future__ import annotations

from collections.abc import Mapping

from sim_node.compiler.build import Program
from sim_node.compiler.frontend import typed
from sim_node.compiler.ir.digest import digest
from sim_node.compiler.ir.verifier import verify
from sim_node.compiler.passes.inline import inline
from sim_node.compiler.python.block import Block
from sim_node.compiler.python.code import Code
from sim_node.errors import mistakes
from sim_node.lang.kernel import Kernel


def build(kernel: Kernel, layouts: Mapping[str, str] | None = None) -> Program:
    """Make a kernel ready to run under CPython; its digest is that of the compiled one.

    Raises BuildError and its kinds as the compiler does.
    """
    if kernel.options.guards is not None:
        what = f"kernel '{kernel.name}' has guards=\"clamp\", and the device python runs what is written"
        raise mistakes.GUARDS(what, remedy="run it on the CPU, or without guards")
    module, bodies = typed(kernel, layouts)
    flat = inline(verify(module))
    function = flat.entry
    params = tuple((name, param.type) for name, param in zip(function.names, function.params) if param.type is not None)
    code = Code(module, bodies, function, Block(tuple(type_ for _, type_ in params)))
    return Program(
        function.name, code.address, params, function.sites, digest(flat), code, function.written, function.dims
    )
