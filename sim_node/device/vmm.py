"""Memory of a GPU that other processes may use: descriptors of physical memory, mapped at addresses of one's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sim_node.device import driver
from sim_node.device.driver import call

if TYPE_CHECKING:
    from sim_node.device.cuda import Cuda

TRANSPORT = "vmm"


def refusal(device: Cuda) -> str:
    """Say why memory of a device cannot be shared by descriptors; '' where it can."""
    for what in ("VIRTUAL_MEMORY_MANAGEMENT", "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR"):
        if not device.attribute(f"{what}_SUPPORTED"):
            return f"{device.name} ({device.title}) does not share memory by file descriptors"
    return ""


class Allocation:
    """Physical memory with a descriptor for other processes, mapped here; zeroed, and given back with this.

    It is there for as long as any process maps it. Attributes: ``device``, ``address``, ``nbytes``, ``file`` (the
    descriptor), ``offset`` (of the address in what that opens: 0). Raises MemoryError naming what was asked,
    DriverError where the driver does not share it.
    """

    offset = 0

    def __init__(self, device: Cuda, nbytes: int) -> None:
        self.device, self.file = device, -1
        piece, wanted = _piece(device), _wanted(device)
        self.nbytes = -(-nbytes // piece) * piece
        handle = device.reserve(self.nbytes, "cuMemCreate", wanted, 0)
        try:
            with device.active():
                self.file = int(call("cuMemExportToShareableHandle", handle, _kind(), 0))
            os.set_inheritable(self.file, False)
            self._range = _Range(device, handle, self.nbytes)
        finally:
            device.drop("cuMemRelease", handle)  # descriptor and mapping keep the memory
        self.address = self._range.base
        with device.active():
            call("cuMemsetD8Async", self.address, 0, self.nbytes, device.stream)
            call("cuStreamSynchronize", device.stream)

    def __del__(self) -> None:
        if self.file >= 0:
            os.close(self.file)


class Mapping:
    """Memory of that descriptor, mapped as long as this lives; the descriptor is not kept.

    Attributes: ``device``, ``base``, ``nbytes``. Raises DriverError where the driver does not map so many bytes of it.
    """

    def __init__(self, device: Cuda, file: int, nbytes: int) -> None:
        self.device, self.nbytes = device, nbytes
        with device.active():
            handle = int(call("cuMemImportFromShareableHandle", file, _kind()))
        try:
            self._range = _Range(device, handle, nbytes)
        finally:
            device.drop("cuMemRelease", handle)
        self.base = self._range.base


class _Range:
    """Addresses at which the device reads and writes physical memory. Attributes: ``base``."""

    def __init__(self, device: Cuda, handle: int, nbytes: int) -> None:
        self._device, self._nbytes, self._mapped = device, nbytes, False
        self.base = 0
        access = driver.bindings().CUmemAccessDesc()
        access.location = _wanted(device).location
        access.flags = driver.bindings().CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        with device.active():
            self.base = int(call("cuMemAddressReserve", nbytes, 0, 0, 0))
            call("cuMemMap", self.base, nbytes, 0, handle, 0)
            self._mapped = True
            call("cuMemSetAccess", self.base, nbytes, [access], 1)

    def __del__(self) -> None:
        if self._mapped:
            self._device.drop("cuCtxSynchronize")  # for whoever works there still: unlike cuMemFree, this does not wait
            self._device.drop("cuMemUnmap", self.base, self._nbytes)
        if self.base:
            self._device.drop("cuMemAddressFree", self.base, self._nbytes)


def _kind() -> Any:
    return driver.bindings().CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def _wanted(device: Cuda) -> Any:
    """Say what memory is asked for: that of a device, to be shared."""
    found = driver.bindings()
    wanted = found.CUmemAllocationProp()
    wanted.type = found.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    wanted.location.type = found.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    wanted.location.id = device.ordinal
    wanted.requestedHandleTypes = _kind()
    return wanted


def _piece(device: Cuda) -> int:
    """Tell what sizes are multiples of."""
    least = driver.bindings().CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    with device.active():
        return int(call("cuMemGetAllocationGranularity", _wanted(device), least))
