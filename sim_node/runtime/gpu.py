"""How kernels become code of a GPU: PTX of the compiler's, machine code of the driver's."""

from __future__ import annotations

import os
from functools import cache

from sim_node.compiler.backend import isa, llvm, ptx, ptxas
from sim_node.compiler.backend.elf import ObjectError
from sim_node.compiler.backend.toolchain import Code, Toolchain
from sim_node.compiler.ir.function import Function
from sim_node.device import driver
from sim_node.device.cuda import Cuda
from sim_node.device.driver import DriverError
from sim_node.errors import mistakes


@cache
def toolchain(gpu: Cuda) -> Toolchain:
    """Give that of a GPU; what it makes is of the GPU's kind and of the driver.

    Raises BuildError where LLVM or the driver is too old for it.
    """
    name, speaks = nearest(gpu.arch), driver.call("cuDriverGetVersion")
    version = max(isa.GPUS[name], isa.MORE_SINCE if isa.accepted(speaks) >= isa.MORE_SINCE else 0)
    target = isa.gpu(name, version, speaks)

    def text(function: Function) -> str:
        ptx.check(function, name, version)
        return ptx.module(function, target)

    def image(module: str) -> bytes:
        return gpu.link(ptxas.taken(llvm.assembly(module, target=target)).encode())

    def link(assembly: bytes) -> bytes:
        try:
            return gpu.link(assembly)
        except DriverError as error:
            raise ObjectError(f"the driver refuses it: {error.args[0]}") from None

    def load(image: bytes) -> Code:
        try:
            return gpu.load(image)
        except DriverError as error:
            raise ObjectError(error.args[0]) from None

    identity, side = f"{target.identity}-driver{driver.version()}", len(os.sched_getaffinity(0))
    return Toolchain(target, identity, ".cubin", text, image, load, link, side)


def nearest(arch: int) -> str:
    """Name the newest GPU that is no newer than ``arch``: its PTX runs on all that came after it.

    Raises BuildError where every one that PTX is written for is newer.
    """
    found = isa.newest(arch, isa.GPUS)
    if found is None:
        first = next(iter(isa.GPUS))
        raise mistakes.BUILD_TARGET(
            f"a GPU of sm_{arch} is too old", remedy=f"one of {first} or later, or device='cpu'"
        )
    return found
