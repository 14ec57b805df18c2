"""The producer's slots in the memory of a GPU, and what other processes are told of them."""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from weakref import WeakValueDictionary

from sim_node._native import SPARES, Ring
from sim_node.bridge.device_array import DeviceArray, device_arrays
from sim_node.bridge.handover import Handover
from sim_node.bridge.offer import STRIDE, Offer, namespace
from sim_node.device import driver, ipc, vmm
from sim_node.device.cuda import Cuda
from sim_node.device.sharing import Choice
from sim_node.layout import Layout

LOOK_S = 0.1  # between looks whether the last reader of a closed ring has left


class Exported:
    """Slots for fields of this layout on a GPU; by CUDA's IPC each with an event that is recorded when it is written.

    There are as many as the ring has, spares too. Attributes: ``layout``, ``device``, ``transport`` and ``why`` that
    one, ``address`` (of the first), ``stride`` (bytes from one to the next), ``handle`` (what names the memory in an
    offer), ``shared`` (the events, one a slot, or none), ``events``
    (address of the driver's handles of them; 0: none).
    Raises MemoryError where the GPU has no more memory, DriverError where its driver does not share it.
    """

    def __init__(self, layout: Layout, device: Cuda, slots: int, choice: Choice) -> None:
        self.layout, self.device, self.transport, self.why = layout, device, choice.transport, choice.why
        self.stride = -(-layout.size // STRIDE) * STRIDE
        count, self.shared, self.events = slots + SPARES, tuple[ipc.SharedEvent, ...](), 0
        self.memory: ipc.Allocation | vmm.Allocation
        self._handover: Handover | None = None
        if self.transport == vmm.TRANSPORT:
            self.memory = vmm.Allocation(device, self.stride * count)
            self._handover = Handover(self.memory.file)
            self.handle = self._handover.handle
        else:
            self.memory = ipc.Allocation(device, self.stride * count)
            self.handle = self.memory.handle
            self.shared = tuple(ipc.SharedEvent(device) for _ in range(count))
            self._events = (ctypes.c_uint64 * count)(*(int(each.event) for each in self.shared))
            self.events = ctypes.addressof(self._events)
        self.address = self.memory.address
        own[self.handle] = self

    def begin(self, generation: int, group: int | None) -> None:
        """Let readers of that generation of a ring, of this user and group, come for the memory, now that it is one."""
        if self._handover is not None:
            self._handover.begin(generation, group)

    def offer(self, generation: int) -> Offer:
        """Tell other processes."""
        pid, start = Ring.life()
        return Offer(
            self.transport, self.why, generation, pid, start, os.geteuid(), namespace("ipc"), namespace("net"),
            self.device.uuid, self.device.title, driver.version(), self.layout, self.stride, self.memory.offset,
            self.memory.nbytes + self.memory.offset, self.handle, tuple(each.handle for each in self.shared),
        )  # fmt: skip

    def slot(self, number: int) -> dict[str, DeviceArray]:
        """View each field of a slot."""
        return device_arrays(self.layout, self.device, self.address + number * self.stride, self)

    def retire(self, ring: Ring) -> None:
        """Hand out no more; keep a closed ring's memory while another process maps it, and say so.

        By CUDA's IPC, freeing it would be undefined.
        """
        if self._handover is not None:
            self._handover.end()
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
