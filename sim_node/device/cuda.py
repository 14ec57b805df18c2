"""A GPU of NVIDIA's as a device: its memory, and copies between that and the host's."""

from __future__ import annotations

import ctypes
import struct
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any
from uuid import UUID

from sim_node import _native
from sim_node.device import driver
from sim_node.device.arena import Arena, Memory
from sim_node.device.driver import DriverError, call
from sim_node.device.transfer import transfer
from sim_node.errors import mistakes

# the function of a module, and what is true of it: compiler/backend/ptx.py
ENTRY, WAITS, PAIRS, UNCHECKED = "kernel", "waits", "pairs", "unchecked"

# src/plan.h: sn_error; the head of sn_prints, how much it keeps, and the longest record
RECORD_BYTES, PRINT_BYTES, PRINT_MOST = 56, 1 << 20, 24 + 8 * 256
_PRINTS = struct.Struct("<QQQQ")
_LOG = 1 << 13  # bytes of what the linker says
_BLOCKS = (256, 512, 1024)  # fewer take so long to begin that memory waits
# CU_STREAM_DEFAULT: it and the legacy default stream wait for each other. What torch, CuPy and numba run goes there
# unless they are told otherwise, so launches of ours on the same memory need no word between them.
_WITH_DEFAULT = 0
_NO_TIMES = 2  # CU_EVENT_DISABLE_TIMING
_SHARED = 1 | 2  # CU_MEMHOSTREGISTER_PORTABLE, …_DEVICEMAP
_ENDED = "CUDA_ERROR_DEINITIALIZED"  # the process ends, and the driver has freed everything


class Module:
    """Machine code on a device, unloaded when nothing refers to it.

    Attributes: ``symbols`` (a function's handle, or where something else is): ``ENTRY``, and ``WAITS``, ``PAIRS``
    and ``UNCHECKED`` where its kernel waits for the one before it, runs threads in pairs, or never stops.
    """

    def __init__(self, device: Cuda, handle: Any) -> None:
        self._device, self._handle = device, handle
        self.symbols = {ENTRY: int(call("cuModuleGetFunction", handle, ENTRY.encode()))}
        for name in (WAITS, PAIRS, UNCHECKED):
            with suppress(DriverError):
                self.symbols[name] = int(call("cuModuleGetGlobal", handle, name.encode())[0])

    def __del__(self) -> None:
        self._device.unload(self._handle)


class Event:
    """A point in a GPU's work, with its time. Attributes: ``handle``."""

    def __init__(self, device: Cuda) -> None:
        self._device = device
        with device.active():
            self.handle = call("cuEventCreate", 0)

    def __del__(self) -> None:
        self._device.drop("cuEventDestroy", self.handle)


class Shared:
    """Memory of the host that a GPU reaches by the same addresses for as long as this lives; it keeps the owners."""

    def __init__(self, device: Cuda, owners: Sequence[Any]) -> None:
        self._device, self._owners = device, owners
        self._addresses = list[int]()
        for owner in owners:
            address, nbytes = owner.region
            with device.active():
                call("cuMemHostRegister", address, nbytes, _SHARED)
            self._addresses.append(address)

    def __del__(self) -> None:
        for address in self._addresses:
            self._device.unshare(address)


class Cuda:
    """A GPU; made once for each, by ``gpus``. Its context is the primary one, which other libraries share.

    Attributes: ``ordinal``, ``name`` (``cuda:0``), ``title`` (NVIDIA's name of it), ``uuid`` (``GPU-…``), ``arch`` (90
    for ``sm_90``), ``memory`` (bytes in all).
    """

    is_cpu, is_cuda = False, True

    def __init__(self, ordinal: int) -> None:
        self.ordinal, self.name = ordinal, f"cuda:{ordinal}"
        self._device = call("cuDeviceGet", ordinal)
        self.title = call("cuDeviceGetName", 256, self._device).split(b"\0")[0].decode()
        self.uuid = f"GPU-{UUID(bytes=bytes(call('cuDeviceGetUuid', self._device).bytes))}"
        self.arch = 10 * self.attribute("COMPUTE_CAPABILITY_MAJOR") + self.attribute("COMPUTE_CAPABILITY_MINOR")
        self.memory: int = call("cuDeviceTotalMem", self._device)
        self.arena = Arena(self, self._reserve, self.release)

    @property
    def alias(self) -> str:
        """The device's name, in Warp's word."""
        return self.name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name} {self.title} {self.uuid}>"

    def attribute(self, name: str) -> int:
        """Ask for an attribute by CUDA's name of it, without the prefix: ``MAX_THREADS_PER_BLOCK``."""
        known = getattr(driver.bindings().CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(call("cuDeviceGetAttribute", known, self._device))

    @cached_property
    def primary(self) -> Any:
        """The device's primary context, retained once."""
        return call("cuDevicePrimaryCtxRetain", self._device)

    @cached_property
    def processors(self) -> int:
        """How many blocks it runs at once at least: its multiprocessors."""
        return self.attribute("MULTIPROCESSOR_COUNT")

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make the device the one that the driver's functions are about in this thread; after it, the one before."""
        before = call("cuCtxGetCurrent")
        if int(before) == int(self.primary):
            yield
            return
        call("cuCtxSetCurrent", self.primary)
        try:
            yield
        finally:
            call("cuCtxSetCurrent", before)

    @cached_property
    def stream(self) -> Any:
        """The stream that launches and copies follow each other on."""
        with self.active():
            return call("cuStreamCreate", _WITH_DEFAULT)

    def synchronize(self) -> None:
        """Wait until all that was asked of the device's stream has ended. Raises DriverError where that failed."""
        with self.active():
            call("cuStreamSynchronize", self.stream)

    def event(self) -> Event:
        """Make an event that notes its time."""
        return Event(self)

    def follow(self, stream: int) -> None:
        """Make the device's stream wait for all that was asked of another library's: its address, or CUDA's number."""
        self._after(self.stream, stream)

    def await_event(self, event: Any, stream: int | None = None) -> None:
        """Make a stream, by default the device's, wait for an event as it was recorded last, if it has not come."""
        with self.active():  # to wait for another process's has the GPU switch to that one, even if it has come
            if int(driver.bindings().cuEventQuery(event)[0]):
                call("cuStreamWaitEvent", self.stream if stream is None else stream, event, 0)

    def lead(self, stream: int) -> None:
        """Make another library's stream wait for all that was asked of the device's."""
        self._after(stream, self.stream)

    def _after(self, waiting: Any, awaited: Any) -> None:
        """No thread waits: what comes later on one stream is begun when what came before on the other has ended."""
        with self.active():
            event = call("cuEventCreate", _NO_TIMES)
            try:
                call("cuEventRecord", event, awaited)
                call("cuStreamWaitEvent", waiting, event, 0)
            finally:
                call("cuEventDestroy", event)

    # code

    def link(self, text: bytes) -> bytes:
        """Make machine code of PTX with the driver's linker. Raises DriverError with what it says of the text."""
        driver_ = driver.bindings()
        log = bytearray(_LOG)
        options = [
            driver_.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
            driver_.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ]
        with self.active():
            state = call("cuLinkCreate", len(options), options, [log, _LOG])
            try:
                kind = driver_.CUjitInputType.CU_JIT_INPUT_PTX
                call("cuLinkAddData", state, kind, text + b"\0", len(text) + 1, b"kernel.ptx", 0, [], [])
                address, size = call("cuLinkComplete", state)
                return ctypes.string_at(int(address), size)
            except DriverError as error:
                said = log.split(b"\0")[0].decode(errors="replace").strip()
                raise mistakes.DRIVER(f"{error.args[0]}\n{said}", error.result) from None
            finally:
                call("cuLinkDestroy", state)

    def load(self, image: bytes) -> Module:
        """Load machine code. Raises DriverError where it is not of this device."""
        with self.active():
            return Module(self, call("cuModuleLoadData", image))

    def block(self, function: int) -> int:
        """Choose how many threads a block of a kernel has: the fewest that let it fill the device, warps in all."""
        most = self.block_limit(function)
        sizes = [size for size in _BLOCKS if size <= most] or [most]
        with self.active():
            handle = driver.bindings().CUfunction(function)
            held = {n: n * call("cuOccupancyMaxActiveBlocksPerMultiprocessor", handle, n, 0) for n in sizes}
        return max(sizes, key=lambda size: (held[size], -size))

    def pairs_from(self, code: Module) -> int:
        """Tell how many threads a launch has at least for which pairs still fill the device twice."""
        room = self.processors * self.attribute("MAX_THREADS_PER_MULTIPROCESSOR")
        return 2 * room if PAIRS in code.symbols else 2**63 - 1

    def block_limit(self, function: int) -> int:
        """Tell how many threads a block of a kernel may have."""
        wanted = driver.bindings().CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        with self.active():
            return int(call("cuFuncGetAttribute", wanted, driver.bindings().CUfunction(function)))

    # launches

    def reports(self, count: int = 1, prints: int = 0) -> _native.Reports:
        """Make what launches of this device report to, ``count`` a run; ``prints`` bytes are for what they print."""
        size = count * RECORD_BYTES
        records, flag = self.allocate(size, label="error records"), self.pinned(4)
        printed = self.allocate(_PRINTS.size + prints + PRINT_MOST, label="prints") if prints else None
        address = ctypes.addressof(ctypes.c_char.from_buffer(flag))
        with self.active():
            seen = call("cuMemHostGetDevicePointer", address, 0)
        flag[:] = bytes(4)
        made = _native.Reports(
            self, int(self.primary), int(self.stream), records.address, count, address, int(seen),
            printed.address if printed else 0, (records, flag, printed),
        )  # fmt: skip
        self.write(records.address, made.fresh, size)
        if printed is not None:
            self.write(printed.address, _PRINTS.pack(0, prints, 2**64 - 1, 0), _PRINTS.size)
        return made

    @cached_property
    def own(self) -> _native.Reports:
        """What launches outside of plans report to, one at a time."""
        return self.reports(prints=PRINT_BYTES)

    # memory

    def allocate(self, nbytes: int, zeroed: bool = False, label: str = "") -> Memory:
        """Allocate bytes, aligned to 256, which are given back when nothing refers to them; ``label`` says whose.

        Raises MemoryError naming what was asked, what is free, and who holds most.
        """
        try:
            memory = self.arena.take(nbytes, label)
        except MemoryError:
            raise MemoryError(self._shortage(nbytes)) from None
        if zeroed and nbytes:
            with self.active():
                call("cuMemsetD8Async", memory.address, 0, nbytes, self.stream)
        return memory

    def pinned(self, nbytes: int) -> memoryview:
        """Allocate bytes of the host that the device reads and writes at full speed; they live as long as the view.

        Raises MemoryError naming the size.
        """
        try:
            with self.active():
                address = int(call("cuMemHostAlloc", max(nbytes, 1), 1 | 2))  # portable, mapped
        except DriverError as error:
            raise MemoryError(f"the host cannot pin {nbytes} bytes: {error}") from None
        block = (ctypes.c_ubyte * nbytes).from_address(address)
        weakref.finalize(block, self._unpin, address).atexit = False
        return memoryview(block).cast("B")

    def holding(self, contents: bytes) -> Memory:
        """Allocate memory with these bytes in it."""
        memory = self.allocate(len(contents), label="lists of indices")
        self.write(memory.address, contents, len(contents))
        return memory

    def read(self, to: int, address: int, nbytes: int, rows: int = 1, pitch: int = 0) -> None:
        """Copy bytes of the device to an address of the host's, and wait for them.

        Of several rows each has so many bytes; they are ``pitch`` bytes apart, and follow each other on the host.
        """
        if rows > 1:
            self._copy("cuMemcpy3DAsync", transfer(to, address, nbytes, host="to", rows=rows, pitch=pitch))
        elif nbytes:
            self._copy("cuMemcpyDtoHAsync", to, address, nbytes)

    def write(self, address: int, source: Any, nbytes: int, rows: int = 1, pitch: int = 0) -> None:
        """Copy bytes at an address of the host's to the device; rows as in ``read``. After it the source may change."""
        if rows > 1:
            self._copy("cuMemcpy3DAsync", transfer(address, source, nbytes, host="source", rows=rows, pitch=pitch))
        elif nbytes:
            self._copy("cuMemcpyHtoDAsync", address, source, nbytes)

    def move(self, to: int, source: int, nbytes: int) -> None:
        """Copy bytes of the device to another place there, behind what was asked before."""
        if nbytes:
            with self.active():
                call("cuMemcpyDtoDAsync", to, source, nbytes, self.stream)

    def _copy(self, function: str, *what: Any) -> None:
        with self.active():
            call(function, *what, self.stream)
            call("cuStreamSynchronize", self.stream)

    def _reserve(self, nbytes: int, function: str = "cuMemAlloc", *rest: Any) -> int:
        try:
            with self.active():
                return int(call(function, nbytes, *rest))
        except DriverError as error:
            if error.result != "CUDA_ERROR_OUT_OF_MEMORY":
                raise
            raise MemoryError from None

    def reserve(self, nbytes: int, function: str = "cuMemAlloc", *rest: Any) -> int:
        """Allocate bytes by themselves, not out of larger pieces, and give their address; ``release`` frees them.

        Another ``function`` of the driver's gives what it gives. Raises MemoryError as ``allocate``.
        """
        try:
            return self._reserve(nbytes, function, *rest)
        except MemoryError:
            self.arena.trim()
        try:
            return self._reserve(nbytes, function, *rest)
        except MemoryError:
            raise MemoryError(self._shortage(nbytes)) from None

    def release(self, address: int) -> None:
        """Free what ``reserve`` gave."""
        self.drop("cuMemFree", address)

    def _unpin(self, address: int) -> None:
        self.drop("cuMemFreeHost", address)

    def share(self, *owners: Any) -> Shared:
        """Let the device reach the memory at the ``region`` (address, bytes) of each owner.

        Raises DeviceError where it cannot do that by the host's addresses.
        """
        if not self.attribute("CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM"):
            raise mistakes.NO_DRIVER(f"{self.name} ({self.title}) does not reach the host's memory by its addresses")
        return Shared(self, owners)

    def unshare(self, address: int) -> None:
        """End what ``share`` began."""
        self.drop("cuMemHostUnregister", address)

    def unload(self, module: Any) -> None:
        """Give a module's memory back, when what was launched of it has ended."""
        if "stream" in vars(self):
            self.drop("cuStreamSynchronize", self.stream)
        self.drop("cuModuleUnload", module)

    def drop(self, function: str, *thing: Any, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        """End the life of something; the driver does that itself where the process ends, and not at all in a fork."""
        if ending() or not driver.is_ours():
            return
        try:
            with self.active():
                call(function, *thing)
        except DriverError as error:
            if error.result != _ENDED:
                raise

    def _shortage(self, nbytes: int) -> str:
        with self.active():
            free, total = call("cuMemGetInfo")
        free += self.arena.reserved - self.arena.taken
        holders = "".join(f"\n  {held:>15,} bytes: {label or 'unnamed'}" for held, label in self.arena.holders())
        told = f"{self.name} ({self.title}) cannot allocate {nbytes:,} bytes: {free:,} of {total:,} are free"
        return f"{told}, perhaps not in one piece; held by this process:{holders or ' nothing'}"


def gpus() -> list[Cuda]:
    """Find the GPUs of this machine, in the driver's order. Raises DeviceError where there is no driver."""
    if not _gpus:
        _gpus.extend(Cuda(ordinal) for ordinal in range(call("cuDeviceGetCount")))
    return _gpus


def used() -> list[Cuda]:
    """List the GPUs that something was asked of; a driver that nobody needed is not loaded for that."""
    return [gpu for gpu in _gpus if "stream" in vars(gpu)]


_gpus: list[Cuda] = []
