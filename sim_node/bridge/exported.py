"""The producer's slots in the memory of a GPU, and what other processes are told of them."""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from weakref import WeakValueDictionary

from sim_node._native import SPARES, Ring
from sim_node.bridge.device_array import DeviceArray, device_arrays
from sim_node.bridge.offer import STRIDE, Offer, ipc_namespace
from sim_node.device import driver, ipc
from sim_node.device.cuda import Cuda
from sim_node.layout import Layout

LOOK_S = 0.1  # between looks whether the last reader of a closed ring has left


class Exported:
    """Slots for fields of this layout on a GPU, each with an event that is recorded when it is written.

    There are as many as the ring has, spares too. Attributes: ``layout``, ``device``, ``transport``, ``address``
    (of the first), ``stride`` (bytes from one to the next), ``events`` (address of the driver's handles, one a slot).
    Raises MemoryError where the GPU has no more memory, DriverError where its driver does not share it.
    """

    def __init__(self, layout: Layout, device: Cuda, slots: int) -> None:
        self.layout, self.device, self.transport = layout, device, ipc.TRANSPORT
        self.stride = -(-layout.size // STRIDE) * STRIDE
        self.memory = ipc.Allocation(device, self.stride * (slots + SPARES))
        self.address = self.memory.address
        self.shared = tuple(ipc.SharedEvent(device) for _ in range(slots + SPARES))
        self._handles = (ctypes.c_uint64 * len(self.shared))(*(int(each.event) for each in self.shared))
        self.events = ctypes.addressof(self._handles)
        own[self.memory.handle] = self

    def offer(self, generation: int) -> Offer:
        """Tell other processes."""
        pid, start = Ring.life()
        return Offer(
            self.transport, generation, pid, start, os.geteuid(), ipc_namespace(), self.device.uuid, self.device.title,
            driver.version(), self.layout, self.stride, self.memory.offset, self.memory.nbytes + self.memory.offset,
            self.memory.handle, tuple(each.handle for each in self.shared),
        )  # fmt: skip

    def slot(self, number: int) -> dict[str, DeviceArray]:
        """View each field of a slot."""
        return device_arrays(self.layout, self.device, self.address + number * self.stride, self)

    def order(self, number: int, stream: int | None) -> None:
        """Let a stream wait until a slot is written."""
        self.device.await_event(self.shared[number].event, stream)

    def retire(self, ring: Ring) -> None:
        """Keep the memory of a closed ring while another process maps it, and say so; freeing it would be undefined."""
        mappers = ring.mappers()
        if not mappers:
            return
        with _lock:
            _outliving.append((self, ring))
            if len(_outliving) == 1:
                threading.Thread(target=_watch, name="sim_node readers of closed rings", daemon=True).start()
        warnings.warn(
            f"{self.memory.nbytes:,} bytes of {self.device} stay until the processes leave that still map them: "
            f"pid {', '.join(map(str, mappers))}; the ring is closed",
            RuntimeWarning,
            stacklevel=2,
        )


own: WeakValueDictionary[bytes, Exported] = WeakValueDictionary()  # by handle: a process cannot open one of its own


_lock = threading.Lock()
_outliving: list[tuple[Exported, Ring]] = []  # of closed rings, whose readers still map them


def outliving() -> int:
    """Count the bytes of closed rings that other processes still map."""
    with _lock:
        return sum(exported.memory.nbytes for exported, _ in _outliving)


def _watch() -> None:
    while True:
        _wake.wait(LOOK_S)
        with _lock:
            _outliving[:] = [kept for kept in _outliving if kept[1].mappers()]
            if not _outliving:
                return


_wake = threading.Event()  # never set: the wait is the pause
