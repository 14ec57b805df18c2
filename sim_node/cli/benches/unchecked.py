"""A kernel without any check, to measure what checks cost; what it is given must not be outside of anything."""

from __future__ import annotations

from sim_node.compiler.backend import host
from sim_node.compiler.backend.target import HOST
from sim_node.compiler.backend.toolchain import NATIVE, SYMBOL
from sim_node.compiler.build import Program
from sim_node.compiler.frontend import lower
from sim_node.compiler.ir.function import Function, Module, Value
from sim_node.compiler.ir.op import Op
from sim_node.compiler.passes.dce import dce
from sim_node.compiler.passes.pipeline import optimise
from sim_node.compiler.passes.ranges import is_check, replaced
from sim_node.device.cuda import Cuda
from sim_node.device.names import DEFAULT, Device
from sim_node.lang.kernel import Kernel
from sim_node.runtime import gpu
from sim_node.runtime.program import Entry, keep


def unchecked(kernel: Kernel, device: Device = DEFAULT) -> Kernel:
    """Compile a kernel like this one but for its checks; it indexes as the checked one does where all is inside.

    The one made can be launched on that device only.
    """
    function = optimise(lower(kernel)).entry
    chain = gpu.toolchain(device) if isinstance(device, Cuda) else NATIVE
    rows = None if isinstance(device, Cuda) else host.form(function, HOST.bits).rows
    bare = _bare(rows.free if rows else function)
    code = chain.load(chain.image(chain.text(bare)))
    params = tuple((name, param.type) for name, param in zip(bare.names, bare.params) if param.type is not None)
    made = Kernel(kernel.function, options=kernel.options, given=kernel.annotations)
    program = Program(kernel.name, code.symbols[SYMBOL], params, (), "", code, function.written, function.dims)
    keep(made, Entry(program, device))
    return made


def _bare(function: Function) -> Function:
    def change(_original: Value, value: Value) -> Value | None:
        if not is_check(value):
            return value
        return value.args[0] if value.op is Op.BOUNDS else None

    return dce(Module(function.name, {function.name: replaced(function, change)})).entry
