"""A GPU of NVIDIA's as a device: its memory, and copies between that and the host's."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from uuid import UUID

from sim_node.device import driver
from sim_node.device.arena import Arena, Memory
from sim_node.device.driver import DriverError, call

_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: it does not wait for the legacy default stream, nor that for it
_ENDED = "CUDA_ERROR_DEINITIALIZED"  # the process ends, and the driver has freed everything


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
        self.arena = Arena(self, self._reserve, self._release)

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
    def _context(self) -> Any:
        return call("cuDevicePrimaryCtxRetain", self._device)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make the device the one that the driver's functions are about in this thread; after it, the one before."""
        before = call("cuCtxGetCurrent")
        if int(before) == int(self._context):
            yield
            return
        call("cuCtxSetCurrent", self._context)
        try:
            yield
        finally:
            call("cuCtxSetCurrent", before)

    @cached_property
    def stream(self) -> Any:
        """The stream that launches and copies follow each other on."""
        with self.active():
            return call("cuStreamCreate", _NON_BLOCKING)

    def synchronize(self) -> None:
        """Wait until all that was asked of the device's stream has ended. Raises DriverError where that failed."""
        with self.active():
            call("cuStreamSynchronize", self.stream)

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
        weakref.finalize(block, self._unpin, address)
        return memoryview(block).cast("B")

    def read(self, to: Any, address: int, nbytes: int) -> None:
        """Copy bytes of the device to an address of the host's, and wait for them."""
        self._copy("cuMemcpyDtoHAsync", to, address, nbytes)

    def write(self, address: int, source: Any, nbytes: int) -> None:
        """Copy bytes at an address of the host's to the device; after it the source may change."""
        self._copy("cuMemcpyHtoDAsync", address, source, nbytes)

    def _copy(self, function: str, to: Any, source: Any, nbytes: int) -> None:
        if nbytes:
            with self.active():
                call(function, to, source, nbytes, self.stream)
                call("cuStreamSynchronize", self.stream)

    def _reserve(self, nbytes: int) -> int:
        try:
            with self.active():
                return int(call("cuMemAlloc", nbytes))
        except DriverError as error:
            if error.result != "CUDA_ERROR_OUT_OF_MEMORY":
                raise
            raise MemoryError from None

    def _release(self, address: int) -> None:
        try:
            with self.active():
                call("cuMemFree", address)
        except DriverError as error:
            if error.result != _ENDED:
                raise

    def _unpin(self, address: int) -> None:
        try:
            with self.active():
                call("cuMemFreeHost", address)
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


_gpus: list[Cuda] = []
