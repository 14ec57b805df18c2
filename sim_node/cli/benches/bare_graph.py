"""The least that a graph of kernels costs: empty ones, one after the other, launched by nothing but driver calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sim_node.device import driver
from sim_node.device.cuda import ENTRY, Cuda
from sim_node.device.driver import call

_API = 12000  # of the functions that are called by their addresses: CUDA 12.0
# Every driver that runs a GPU of sm_75 or later takes this text.
_EMPTY = f".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry {ENTRY}()\n{{\nret;\n}}\n\0".encode()
CALL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_WAIT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


@contextmanager
def bare_graph(gpu: Cuda, kernels: int, threads: int) -> Iterator[dict[str, Callable[[], object]]]:
    """Make a graph of so many kernels of one block; gives two calls that launch it and wait for it.

    ``bindings`` calls cuda-python, as one who writes this in Python does; ``pointers`` calls the driver's functions by
    their addresses, with arguments made ready beforehand and the GIL kept, the least that Python can do.
    Raises DriverError where the driver refuses one of them.
    """
    found, module = driver.bindings(), gpu.load(_EMPTY)
    with gpu.active():
        graph = instantiated(module.symbols[ENTRY], kernels, threads)
        stream = gpu.stream
        launch, wait = CALL(pointer("cuGraphLaunch")), _WAIT(pointer("cuStreamSynchronize"))
        graph_at, stream_at = ctypes.c_void_p(int(graph)), ctypes.c_void_p(int(stream))

        def bindings() -> None:
            found.cuGraphLaunch(graph, stream)
            found.cuStreamSynchronize(stream)

        def pointers() -> int:
            return int(launch(graph_at, stream_at) or wait(stream_at))

        call("cuGraphLaunch", graph, stream)
        call("cuStreamSynchronize", stream)
        if refused := pointers():
            raise driver.lost("a graph of empty kernels", refused)
    try:
        yield {"bindings": bindings, "pointers": pointers}
    finally:
        with gpu.active():
            call("cuGraphExecDestroy", graph)


def instantiated(function: int, kernels: int, threads: int, arguments: tuple[Any, Any] | None = None) -> Any:
    """Make a graph of so many launches of one block, one after the other; ``arguments`` are values, and their types.

    Raises DriverError where the driver refuses one of them.
    """
    found = driver.bindings()
    params = found.CUDA_KERNEL_NODE_PARAMS()
    params.func = found.CUfunction(function)
    params.gridDimX = params.gridDimY = params.gridDimZ = 1
    params.blockDimX, params.blockDimY, params.blockDimZ = threads, 1, 1
    if arguments is not None:
        params.kernelParams = arguments
    graph, before = call("cuGraphCreate", 0), list[object]()
    for _ in range(kernels):
        before = [call("cuGraphAddKernelNode", graph, before, len(before), params)]
    made = call("cuGraphInstantiate", graph, 0)
    call("cuGraphDestroy", graph)
    return made


def pointer(name: str) -> int:
    """Find a function of the driver by its name: its address."""
    address, _ = call("cuGetProcAddress", name.encode(), _API, 0)
    return int(address)
