"""Memory and events of a GPU that other processes may use: the driver's inter-process handles."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sim_node.device import driver
from sim_node.device.driver import DriverError as DriverError
from sim_node.device.driver import call

if TYPE_CHECKING:
    from sim_node.device.cuda import Cuda

TRANSPORT = "cuda_ipc"
HANDLE_BYTES = 64  # CUDA driver API: CU_IPC_HANDLE_SIZE
# The driver carves smaller allocations out of pieces of this size, and a handle is of the whole piece: CUDA C++
# Programming Guide, "Interprocess Communication".
PIECE = 2 << 20
_SHARED_EVENT = 2 | 4  # CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS
_PEERS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the only flag there is, and always asked for
_KERNEL = Path("/proc/sys/kernel/osrelease")


def refusal(device: Cuda) -> str:
    """Say why memory of a device cannot be shared by handles; '' where it can."""
    if "microsoft" in _KERNEL.read_text().casefold():
        return "Windows Subsystem for Linux has no inter-process handles of GPUs"
    if not device.attribute("IPC_EVENT_SUPPORTED"):
        return f"{device.name} ({device.title}) has no inter-process handles"
    try:  # some have those of events only
        SharedEvent(device)
        exported(device, device.allocate(1, label="trial of inter-process handles").address)
    except DriverError as error:
        return f"{device.name} ({device.title}) gives no inter-process handles: {error.args[0]}"
    return ""


class Allocation:
    """A plain allocation, of which other processes get the handle and nobody else's bytes; zeroed, freed with this.

    Attributes: ``device``, ``address``, ``nbytes``, ``handle``, ``offset`` (of the address in what the handle opens).
    Raises MemoryError naming what was asked, DriverError where the driver gives no handle.
    """

    def __init__(self, device: Cuda, nbytes: int) -> None:
        self.device, self.nbytes, self.address = device, -(-nbytes // PIECE) * PIECE, 0
        self.address = device.reserve(self.nbytes)
        with device.active():
            call("cuMemsetD8Async", self.address, 0, self.nbytes, device.stream)
            call("cuStreamSynchronize", device.stream)
        self.handle, self.offset = exported(device, self.address)

    def __del__(self) -> None:
        if self.address:
            self.device.release(self.address)


def exported(device: Cuda, address: int) -> tuple[bytes, int]:
    """Tell the handle of the allocation that an address lies in, and how far behind its beginning.

    Raises DriverError where it has none: memory of a pool, or of an address range that was reserved.
    """
    with device.active():
        base = int(call("cuMemGetAddressRange", address)[0])
        return _bytes(call("cuIpcGetMemHandle", base)), address - base


class Mapping:
    """Another process's allocation, mapped as long as this lives. Attributes: ``device``, ``base``, ``nbytes``.

    Raises DriverError where the driver does not map it.
    """

    def __init__(self, device: Cuda, handle: bytes) -> None:
        self.device, self.base = device, 0
        with device.active():
            self.base = int(call("cuIpcOpenMemHandle", _handle("CUipcMemHandle", handle), _PEERS))
            self.nbytes = int(call("cuMemGetAddressRange", self.base)[1])

    def __del__(self) -> None:
        if self.base:
            self.device.drop("cuIpcCloseMemHandle", self.base)


class SharedEvent:
    """A point in a GPU's work that other processes may wait for: a new one, or another process's of that handle.

    Attributes: ``event`` (the driver's), ``handle``. Raises DriverError where the driver does not give or open it.
    """

    def __init__(self, device: Cuda, handle: bytes | None = None) -> None:
        self._device = device
        self.event: Any = None
        with device.active():
            if handle is not None:
                self.event, self.handle = call("cuIpcOpenEventHandle", _handle("CUipcEventHandle", handle)), handle
            else:
                self.event = call("cuEventCreate", _SHARED_EVENT)
                self.handle = _bytes(call("cuIpcGetEventHandle", self.event))

    def __del__(self) -> None:
        if self.event is not None:
            self._device.drop("cuEventDestroy", self.event)


def _bytes(handle: Any) -> bytes:
    return ctypes.string_at(int(handle.getPtr()), HANDLE_BYTES)


def _handle(kind: str, told: bytes) -> Any:
    if len(told) != HANDLE_BYTES:
        raise ValueError(f"an inter-process handle has {HANDLE_BYTES} bytes, not {len(told)}")
    made = getattr(driver.bindings(), kind)()
    ctypes.memmove(int(made.getPtr()), told, HANDLE_BYTES)
    return made
