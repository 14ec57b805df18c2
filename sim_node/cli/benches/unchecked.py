"""A kernel without any check, to measure what checks cost; what it is given must not be outside of anything."""

from __future__ import annotations

from sim_node.compiler.backend import elf, host, llvm
from sim_node.compiler.backend.target import HOST
from sim_node.compiler.build import Program
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.dce import dce
from sim_node.compiler.passes.pipeline import optimise
from sim_node.compiler.passes.ranges import is_check, replaced
from sim_node.lang.kernel import Kernel
from sim_node.runtime.program import Entry


def unchecked(kernel: Kernel) -> Kernel:
    """Compile a kernel like this one but for its checks; it indexes as the checked one does where all is inside."""
    function = optimise(lower(kernel)).entry
    rows = host.form(function, HOST.bits).rows
    bare = _bare(rows.free if rows else function)
    code = elf.load(llvm.compile_text(host.module(bare, HOST.bits)))
    params = tuple((name, param.type) for name, param in zip(bare.names, bare.params) if param.type is not None)
    made = Kernel(kernel.function, options=kernel.options, given=kernel.annotations)
    made.entry = Entry(
        Program(kernel.name, code.symbols[host.SYMBOL], params, (), "", code, function.written, function.dims)
    )
    return made


def _bare(function: Function) -> Function:
    def change(_original: Value, value: Value) -> Value | None:
        if not is_check(value):
            return value
        return value.args[0] if value.op is Op.BOUNDS else None

    return dce(Module(function.name, {function.name: replaced(function, change)})).entry
