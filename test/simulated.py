"""A GPU that is not there: NVIDIA's driver in Python, whose kernels the host runs in memory that no array sees.

What is ours around a kernel is tested by it where there is no GPU: memory, launches, reports, plans, names. Not PTX.
"""

from __future__ import annotations

import ctypes
import gc
import os
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from simulated_memory import INVALID, Handle, Memory, Names, opened, shared

from sim_node.compiler import build
from sim_node.compiler.backend import elf, ptx
from sim_node.compiler.backend.toolchain import NATIVE, Toolchain
from sim_node.compiler.ir.function import Function
from sim_node.device import cuda, driver
from sim_node.runtime import gpu, program

_NO_CONTEXT, _ABSENT, _NOT_READY = 201, 500, 600
_CONTEXT = 77
_SHARED_EVENT = 4
# what every function of the driver's that needs a context begins with
_IN_CONTEXT = (
    "cuStream",
    "cuCtxSynchronize",
    "cuMem",
    "cuIpc",
    "cuGraph",
    "cuEvent",
    "cuModule",
    "cuLink",
    "cuFunc",
    "cuOccupancy",
    "cuLaunch",
)
_SIGNATURES = {
    "cuCtxGetCurrent": (ctypes.c_void_p,),
    "cuCtxSetCurrent": (ctypes.c_void_p,),
    "cuLaunchKernel": (ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3),
    "cuGraphLaunch": (ctypes.c_void_p, ctypes.c_void_p),
    "cuStreamSynchronize": (ctypes.c_void_p,),
    "cuMemcpyDtoHAsync": (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p),
    "cuMemcpyHtoDAsync": (ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p),
    "cuMemsetD8Async": (ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p),
    "cuEventElapsedTime": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
    "cuEventRecord": (ctypes.c_void_p, ctypes.c_void_p),
}
_IN_CELL = 1 << 63  # src/plan.h
_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


class Driver(Memory):
    """The functions of ``cuda.bindings.driver`` that are used, each with its result first.

    ``calls`` counts them, ``copied`` bytes by direction; ``failing`` is what the next synchronisations answer,
    ``capacity`` how many bytes there are.
    Each thread has a ``current`` context of its own, and what works on the device asks for the device's.
    """

    CUdevice_attribute = CUjit_option = CUjitInputType = CUfunction_attribute = CUpointer_attribute = Names()
    CUfunction = int
    CUDA_KERNEL_NODE_PARAMS = CUDA_MEMCPY3D = CUgraphEdgeData = SimpleNamespace
    CUmemorytype = SimpleNamespace(CU_MEMORYTYPE_HOST=1, CU_MEMORYTYPE_DEVICE=2)

    def __init__(self, capacity: int = 1 << 30) -> None:
        super().__init__(capacity)
        self.failing, self._threads = list[int](), threading.local()
        self.copied = Counter[str]()
        self.modules: dict[int, elf.Code] = {}
        self.graphs: dict[int, list[Callable[[], None]]] = {}
        self.events: dict[int, int] = {}  # when they were last recorded
        self.uuid = bytes(range(16))
        self.late = False  # whether events have not come yet
        self.waited: list[tuple[int, int]] = []  # streams that wait for an event, and how often or when it was recorded
        self.early = 0  # edges of all graphs that let a kernel begin beside the one before
        self._callbacks = {
            name: ctypes.CFUNCTYPE(ctypes.c_int, *types)(self._refusing(f"_{name}", _NO_CONTEXT))
            for name, types in _SIGNATURES.items()
        }
        for name in dir(self):
            if name.startswith(_IN_CONTEXT):
                setattr(self, name, self._refusing(name, (_NO_CONTEXT,)))

    def _refusing(self, name: str, refused: Any) -> Callable[..., Any]:
        """Let a function answer as the driver does where the context is not the device's."""
        run = getattr(self, name)
        if not name.strip("_").startswith(_IN_CONTEXT):
            return run
        return lambda *given: run(*given) if self.current == _CONTEXT else refused

    @property
    def current(self) -> int:
        return getattr(self._threads, "current", 0)

    @current.setter
    def current(self, context: int) -> None:
        self._threads.current = context

    def cuGetProcAddress(self, name, version, flags):
        return 0, ctypes.cast(self._callbacks[name.decode()], ctypes.c_void_p).value, 0

    # as C calls them

    def _cuCtxGetCurrent(self, to):
        ctypes.c_void_p.from_address(to).value = self.current
        return 0

    def _cuCtxSetCurrent(self, context):
        self.current = context or 0
        return 0

    def _cuLaunchKernel(self, function, grid, _y, _z, block, _by, _bz, _shared, _stream, params, _extra):
        self.calls["cuLaunchKernel"] += 1
        self._run(function, grid * block, block, params)
        return 0

    def _run(self, function, threads, block, params):
        at = (ctypes.c_void_p * 4).from_address(params)
        begin, end = (ctypes.c_int64.from_address(one).value for one in at[:2])
        assert 0 < end - begin <= 2 * threads
        assert threads < end - begin + block
        record = ctypes.c_uint64.from_address(at[3]).value
        _KERNEL(function)(begin, end, at[2], record)
        if ctypes.c_uint32.from_address(record).value:
            ctypes.c_uint32.from_address(ctypes.c_uint64.from_address(record + 48).value).value = 1

    def _cuGraphLaunch(self, graph, stream):
        self.calls["cuGraphLaunch"] += 1
        for node in self.graphs[graph]:
            node()
        return 0

    def _cuStreamSynchronize(self, stream):
        self.calls["cuStreamSynchronize"] += 1
        return self.failing.pop(0) if self.failing else 0

    def _cuMemcpyDtoHAsync(self, to, source, size, stream):
        self.copied["DtoH"] += size
        ctypes.memmove(to, source, size)
        return 0

    def _cuMemcpyHtoDAsync(self, to, source, size, stream):
        self.copied["HtoD"] += size
        ctypes.memmove(to, source, size)
        return 0

    def _cuMemsetD8Async(self, to, value, size, stream):
        ctypes.memset(to, value, size)
        return 0

    def _cuEventElapsedTime(self, to, first, second):
        ctypes.c_float.from_address(to).value = (self.events[second] - self.events[first]) / 1e6
        return 0

    # as Python does

    def cuInit(self, flags):
        return (0,)

    def cuDriverGetVersion(self):
        return 0, 13000

    def cuGetErrorName(self, result):
        return 0, {2: b"CUDA_ERROR_OUT_OF_MEMORY", 700: b"CUDA_ERROR_ILLEGAL_ADDRESS"}.get(int(result), b"CUDA_ERROR")

    def cuGetErrorString(self, result):
        return 0, b"it is simulated"

    def CUresult(self, result):
        return _Result(result)

    def cuDeviceGetCount(self):
        return 0, 1

    def cuDeviceGet(self, ordinal):
        return 0, ordinal

    def cuDeviceGetName(self, length, device):
        return 0, b"Simulated GPU\0\0"

    def cuDeviceGetUuid(self, device):
        return 0, SimpleNamespace(bytes=self.uuid)

    def cuDeviceGetAttribute(self, attribute, device):
        told = {
            "COMPUTE_CAPABILITY_MAJOR": 9,
            "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM": 1,
            "IPC_EVENT_SUPPORTED": int(self.can_share),
            "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED": 1,
            "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED": int(self.can_export),
            "MULTIPROCESSOR_COUNT": 4,
            "MAX_THREADS_PER_MULTIPROCESSOR": 1024,
        }
        return 0, told.get(attribute.removeprefix("CU_DEVICE_ATTRIBUTE_"), 0)

    def cuDeviceTotalMem(self, device):
        return 0, self.capacity

    def cuDevicePrimaryCtxRetain(self, device):
        self.calls["cuDevicePrimaryCtxRetain"] += 1
        return 0, _CONTEXT

    def cuCtxGetCurrent(self):
        return 0, self.current

    def cuCtxSetCurrent(self, context):
        self.current = int(context)
        return (0,)

    def cuCtxSynchronize(self):
        return (0,)

    def cuStreamCreate(self, flags):
        return 0, 5

    def cuStreamSynchronize(self, stream):
        return (self._cuStreamSynchronize(stream),)

    def cuIpcGetEventHandle(self, event):
        if event not in self.files:
            return INVALID, None
        return 0, Handle(os.getpid(), self.files[event], 8)

    def cuIpcOpenEventHandle(self, handle):
        found = opened(handle)
        if found is None:
            return INVALID, None
        self.events[number := self._event()] = found
        return 0, number

    def cuPointerGetAttribute(self, attribute, address):
        return 0, 0

    def cuMemsetD8Async(self, address, value, size, stream):
        ctypes.memset(int(address), value, size)
        return (0,)

    def cuGraphCreate(self, flags):
        self.graphs[number := max(self.graphs, default=0) + 1] = []
        return 0, number

    def _node(self, graph, before, count, run):
        nodes = self.graphs[int(graph)]
        assert before == ([len(nodes) - 1][:count])
        nodes.append(run)
        return 0, len(nodes) - 1

    def cuGraphAddKernelNode(self, graph, before, count, params):
        return self._node(graph, before, count, lambda: self._launched(params))

    def _launched(self, params):
        (begin, end, block, record), _ = params.kernelParams
        words = (ctypes.c_uint64 * (ctypes.sizeof(block) // 8)).from_buffer_copy(block)
        for i, word in enumerate(words):
            if word & _IN_CELL and self._owns(word - _IN_CELL):
                words[i] = ctypes.c_uint64.from_address(word - _IN_CELL).value
        kept = ctypes.c_int64(begin), ctypes.c_int64(end), words, ctypes.c_uint64(record)
        pointers = (ctypes.c_void_p * 4)(*map(ctypes.addressof, kept))
        self._run(params.func, params.gridDimX * params.blockDimX, params.blockDimX, ctypes.addressof(pointers))

    def cuGraphAddDependencies(self, graph, before, after, edges, count):
        assert (before, after, count) == ([after[0] - 1], after, 1)
        self.early += 1
        return (0,)

    def cuGraphAddMemcpyNode(self, graph, before, count, params, context):
        host = params.srcMemoryType == self.CUmemorytype.CU_MEMORYTYPE_HOST
        to, source = (params.dstDevice, params.srcHost) if host else (params.dstHost, params.srcDevice)
        return self._node(graph, before, count, lambda: ctypes.memmove(to, source, params.WidthInBytes))

    def cuGraphInstantiate(self, graph, flags):
        self.graphs[number := max(self.graphs) + 1] = list(self.graphs[int(graph)])
        return 0, number

    def cuEventCreate(self, flags):
        self.events[number := self._event()] = 0
        if flags & _SHARED_EVENT:
            self.files[number], self.events[number] = shared(8)
        return 0, number

    def _event(self):
        return max(self.events, default=0) + 1

    def cuEventDestroy(self, event):
        if int(event) in self.files:
            os.close(self.files.pop(int(event)))
        return (0 if self.events.pop(int(event), None) is not None else INVALID,)

    def _cuEventRecord(self, event, stream):
        self.calls["cuEventRecord"] += 1
        if isinstance(self.events[event], int):
            self.events[event] = time.perf_counter_ns()
        else:
            self.events[event][:] = struct.pack("<Q", struct.unpack("<Q", self.events[event][:])[0] + 1)
        return 0

    def cuEventRecord(self, event, stream):
        return (self._cuEventRecord(int(event), stream),)

    def cuEventQuery(self, event):
        return (_NOT_READY if self.late else 0,)

    def cuStreamWaitEvent(self, stream, event, flags):
        told = self.events[int(event)]
        self.waited.append((int(stream), told if isinstance(told, int) else struct.unpack("<Q", told[:])[0]))
        return (0,)

    def cuGraphAddEventRecordNode(self, graph, before, count, event):
        return self._node(graph, before, count, lambda: self.events.update({event: time.perf_counter_ns()}))

    def cuGraphLaunch(self, graph, stream):
        return (self._cuGraphLaunch(graph, stream),)

    def cuGraphUpload(self, graph, stream):
        return (0,)

    def cuGraphExecDestroy(self, graph):
        return (0 if self.graphs.pop(int(graph), None) is not None else INVALID,)

    cuGraphDestroy = cuGraphExecDestroy

    def cuModuleGetGlobal(self, module, name):
        known = {cuda.WAITS, cuda.PAIRS, *self.modules[module].symbols}
        return (0, id(module), 4) if name.decode() in known else (_ABSENT, None, 0)

    def cuMemcpyDtoHAsync(self, to, source, size, stream):
        return (self._cuMemcpyDtoHAsync(to, source, size, stream),)

    def cuMemcpyHtoDAsync(self, to, source, size, stream):
        return (self._cuMemcpyHtoDAsync(to, source, size, stream),)

    def cuMemcpy3DAsync(self, params, stream):
        host = params.srcMemoryType == self.CUmemorytype.CU_MEMORYTYPE_HOST
        to, source = (params.dstDevice, params.srcHost) if host else (params.dstHost, params.srcDevice)
        assert min(params.srcPitch, params.dstPitch) >= params.WidthInBytes
        copy = self._cuMemcpyHtoDAsync if host else self._cuMemcpyDtoHAsync
        for row in range(params.Height):
            copy(to + row * params.dstPitch, source + row * params.srcPitch, params.WidthInBytes, stream)
        return (0,)

    def cuMemcpyDtoDAsync(self, to, source, size, stream):
        ctypes.memmove(to, source, size)
        return (0,)

    def cuLinkCreate(self, count, options, values):
        self.log, self.linked = values[0], b""
        return 0, 1

    def cuLinkAddData(self, state, kind, text, size, name, count, options, values):
        self.linked = text[: size - 1]
        if b".version" in text:
            return (0,)
        said = b"line 1: that is no instruction"
        self.log[: len(said)] = said
        return (218,)

    def cuLinkComplete(self, state):
        self._image = ctypes.create_string_buffer(self.linked, len(self.linked))
        return 0, ctypes.addressof(self._image), len(self.linked)

    def cuLinkDestroy(self, state):
        return (0,)

    def cuModuleLoadData(self, image):
        self.calls["cuModuleLoadData"] += 1
        try:
            code = elf.load(image)
        except elf.ObjectError:
            return 200, None
        self.modules[id(code)] = code
        return 0, id(code)

    def cuModuleGetFunction(self, module, name):
        return 0, self.modules[module].symbols[name.decode()]

    def cuModuleUnload(self, module):
        return (0 if self.modules.pop(module, None) else INVALID,)

    def cuFuncGetAttribute(self, attribute, function):
        return 0, 1024

    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, function, block, shared):
        return 0, 2048 // block


class _Result(int):
    """A result, which the driver's own are no plain numbers either."""


class Gpu:
    """A device of such a driver, in place of those that the machine has. Attributes: ``driver``, ``device``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capacity: int = 1 << 30) -> None:
        self.driver = Driver(capacity)
        monkeypatch.setattr(driver, "_bindings", None)
        monkeypatch.setattr(driver, "_owner", 0)  # so that what outlives the test is let go of in silence
        monkeypatch.setattr(driver, "importlib", SimpleNamespace(import_module=lambda name: self.driver))
        monkeypatch.setattr(cuda, "_gpus", [])
        monkeypatch.setattr(gpu, "toolchain", chain := _Chains())
        monkeypatch.setattr(program, "toolchain", chain)
        driver.load()
        (self.device,) = cuda.gpus()

    def end(self) -> None:
        """Let go of what kernels keep of the device, as long as there is a driver to give it back to."""
        for entries in list(program._elsewhere.values()):
            entries.pop(self.device, None)
        build._objects.cache_clear()
        vars(self.device).pop("own", None)
        gc.collect()


class _Chains:
    """The toolchain of the host, whose code the simulated driver loads."""

    def __init__(self) -> None:
        self.made: dict[Any, Toolchain] = {}

    def __call__(self, device: cuda.Cuda) -> Toolchain:
        if device not in self.made:
            self.made[device] = Toolchain(NATIVE.target, f"simulated-{NATIVE.identity}", ".cubin", _text,
                                          NATIVE.image, device.load)  # fmt: skip
        return self.made[device]


def _text(function: Function) -> str:
    """The host's code of a kernel, with the symbol that a GPU's has where it is without checks."""
    symbol = f"define void @{ptx.UNCHECKED}() {{ ret void }}\n"
    return NATIVE.text(function) + symbol * ptx.is_unchecked(function)
