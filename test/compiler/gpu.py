"""Machine code of a kernel on a GPU, run on numpy arrays that are copied to memory which both sides see."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

import machine
import numpy as np
from machine import Given, Stop

from sim_node.compiler.ir.function import Function
from sim_node.device.cuda import ENTRY, Cuda, gpus
from sim_node.device.driver import call
from sim_node.device.names import meant
from sim_node.runtime.gpu import toolchain

_ROOM = 64 << 20
_BLOCK = 128


class Pinned:
    """Memory of the host that the GPU reaches by the same addresses, handed out part by part."""

    def __init__(self, gpu: Cuda) -> None:
        self.bytes, self.used = np.frombuffer(gpu.pinned(_ROOM), np.uint8), 0

    def place(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Copy an array there; its elements lie in the same order."""
        order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        begin = -(-self.used // 64) * 64
        self.used = begin + array.nbytes
        flat = self.bytes[begin : self.used].view(np.uint8)
        made = np.ndarray([array.shape[axis] for axis in order], array.dtype, flat.data)
        made[...] = array.transpose(order)
        shown: np.ndarray[Any, Any] = made.transpose(np.argsort(order))
        return shown

    def moved(self, argument: Any) -> Any:
        """Copy an argument with all that it refers to."""
        if isinstance(argument, tuple):
            return tuple(self.moved(part) for part in argument)
        if isinstance(argument, np.ndarray):
            return self.place(argument)
        if not isinstance(argument, Given):
            return argument
        lists = tuple(None if one is None else self.place(one) for one in argument.lists)
        held = tuple((path, self.moved(its)) for path, its in argument.held)
        made = Given(self.place(argument.memory), argument.axes, argument.key, lists, held)
        made.refer([its for _, its in held])
        return made


def _back(argument: Any, moved: Any) -> None:
    """Copy what a kernel left in an argument to where that came from."""
    if isinstance(argument, tuple):
        for part, its in zip(argument, moved, strict=True):
            _back(part, its)
    elif isinstance(argument, np.ndarray):
        argument[...] = moved
    elif isinstance(argument, Given):
        argument.memory[...] = moved.memory
        argument.refer([its for _, its in argument.held])
        for (_, part), (_, its) in zip(argument.held, moved.held, strict=True):
            _back(part, its)


@cache
def _pinned(gpu: Cuda) -> Pinned:
    return Pinned(gpu)


class Code:
    """Machine code of an optimised kernel for a GPU; ``kinds`` are its parameters."""

    wide = False

    def __init__(self, kinds: Sequence[Any], function: Function, device: str) -> None:
        self.kinds = kinds
        (self.gpu,) = meant(device, gpus())
        chain = toolchain(self.gpu)
        self.code = chain.load(chain.image(chain.text(function)))

    def run(self, dim: int | Sequence[int], *args: Any) -> Stop:
        """Run the threads of a launch and return the error block; threads behind the one that stopped print nothing."""
        dims, pinned = [dim] if isinstance(dim, int) else dim, _pinned(self.gpu)
        pinned.used = 0
        moved = [pinned.moved(argument) for argument in args]
        prints = pinned.place(np.zeros(machine.PRINTS.size + machine.ROOM + machine.LONGEST, np.uint8))
        machine.PRINTS.pack_into(prints.data, 0, 0, machine.ROOM, 2**64 - 1, 0)
        error = pinned.place(np.zeros(machine.ERROR.size + 8, np.uint8))
        address = error.ctypes.data
        machine.ERROR.pack_into(
            error.data, 0, 0, 0, 2**63 - 1, 0, 0, prints.ctypes.data, 0, 0, address + machine.ERROR.size
        )
        block = machine.argument_block(self.kinds, moved, dims)
        self._launch(math.prod(dims), block, address)
        for argument, its in zip(args, moved, strict=True):
            _back(argument, its)
        code, site, thread, index, length, *_ = machine.ERROR.unpack_from(error.data)
        used, _, end, _ = machine.PRINTS.unpack_from(prints.data)
        records = _sorted(bytes(prints[machine.PRINTS.size :][: min(used, end)]), thread)
        return Stop(code, site, thread if code else 0, index, length, records)

    def _launch(self, threads: int, block: bytes, error: int) -> None:
        values = [struct.pack("<q", 0), struct.pack("<q", threads), block, struct.pack("<Q", error)]
        held = [ctypes.create_string_buffer(value, len(value)) for value in values]
        params = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
        if not threads:
            return
        with self.gpu.active():
            blocks, function = -(-threads // _BLOCK), self.code.symbols[ENTRY]
            call(
                "cuLaunchKernel", function, blocks, 1, 1, _BLOCK, 1, 1, 0, self.gpu.stream, ctypes.addressof(params), 0
            )
            call("cuStreamSynchronize", self.gpu.stream)


def _sorted(records: bytes, last: int) -> bytes:
    """Order records by their threads, up to the last."""
    found, at = [], 0
    while at < len(records):
        _, _, thread, words = struct.unpack_from("<IIqQ", records, at)
        size = 24 + 8 * words
        if thread <= last:
            found.append((thread, records[at : at + size]))
        at += size
    return b"".join(record for _, record in sorted(found, key=lambda one: one[0]))
