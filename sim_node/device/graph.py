"""Work of a GPU in a fixed order, which the host gives it by one call: a graph of the driver's."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from sim_node.device import driver
from sim_node.device.driver import call
from sim_node.device.transfer import transfer

if TYPE_CHECKING:
    from sim_node.device.cuda import Cuda

# An edge that lets a kernel begin when every block of the one before has said so or ended: CUDA driver API,
# CUgraphEdgeData, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC and CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC.
_EARLY_PORT = _EARLY = 1


class Graph:
    """What is added runs in that order; after ``end`` the driver launches it by ``handle``, as long as this lives."""

    def __init__(self, device: Cuda) -> None:
        self._device, self.handle = device, 0
        self._owners = list[object]()
        self._last: Any = None
        self._after_kernel = False
        with device.active():
            self._nodes = call("cuGraphCreate", 0)
        found = driver.bindings()
        # cuda-python 12 has the function with edges that differ under a name of its own
        older = "cuGraphAddDependencies_v2"
        self._edges = older if hasattr(found, older) else "cuGraphAddDependencies"
        self._early = hasattr(found, "CUgraphEdgeData")

    def copy(self, to: int, source: int, nbytes: int) -> None:
        """Copy bytes of the host to the device."""
        params = transfer(to, source, nbytes, host="source")
        self._add("cuGraphAddMemcpyNode", params, self._device.primary)

    def launch(
        self, function: int, threads: int, block: int, pairs_from: int, most_blocks: int, args: bytes, record: int,
        owner: object, *, waits: bool,
    ) -> None:  # fmt: skip
        """Launch a kernel with its argument block; from ``pairs_from`` threads on one of a block runs two.

        No more blocks than ``most_blocks`` run at once. ``record`` is where its threads tell of errors, ``owner`` keeps
        the function loaded.
        ``waits`` says that its code waits for what runs before it, so that it can be begun early.
        """
        self._owners.append(owner)
        held = _block(len(args)).from_buffer_copy(args)
        for begin in range(0, threads, most_blocks * block):
            end = min(threads, begin + most_blocks * block)
            params = driver.bindings().CUDA_KERNEL_NODE_PARAMS()
            params.func = driver.bindings().CUfunction(function)
            width = 2 * block if end - begin >= pairs_from else block
            params.gridDimX, params.blockDimX = -(-(end - begin) // width), block
            params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1
            params.kernelParams = (begin, end, held, record), (ctypes.c_int64, ctypes.c_int64, None, ctypes.c_uint64)
            # One that waits beside another takes room from it: few blocks take little, and many gain nothing.
            few = params.gridDimX <= self._device.processors
            early = self._early and waits and self._after_kernel and few and begin == 0
            self._add("cuGraphAddKernelNode", params, early=early)
            self._after_kernel = True

    def mark(self, event: Any) -> None:
        """Note when all that was added before has ended."""
        self._add("cuGraphAddEventRecordNode", event)

    def _add(self, function: str, params: Any, *more: Any, early: bool = False) -> None:
        before = [] if self._last is None or early else [self._last]
        with self._device.active():
            node = call(function, self._nodes, before, len(before), params, *more)
            if early:
                edge = driver.bindings().CUgraphEdgeData()
                edge.from_port, edge.type = _EARLY_PORT, _EARLY
                call(self._edges, self._nodes, [self._last], [node], [edge], 1)
        self._last, self._after_kernel = node, False

    def end(self) -> None:
        """Make of it what can be launched, and bring that to the device."""
        with self._device.active():
            made = call("cuGraphInstantiate", self._nodes, 0)
            self._made, self.handle = made, int(made)
            call("cuGraphUpload", made, self._device.stream)
            call("cuStreamSynchronize", self._device.stream)

    def __del__(self) -> None:
        if self.handle:
            self._device.drop("cuGraphExecDestroy", self._made)
        if hasattr(self, "_nodes"):
            self._device.drop("cuGraphDestroy", self._nodes)


def _block(nbytes: int) -> type[ctypes.Structure]:
    """Make the type of an argument block: cuda-python takes structures as they are."""
    return type("Block", (ctypes.Structure,), {"_fields_": [("bytes", ctypes.c_ubyte * nbytes)]})
