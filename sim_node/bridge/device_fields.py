"""What a subscriber has of the fields that a GPU keeps: arrays in each slot, ordered by events, and copies by DMA."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from sim_node.bridge.device_array import DEFAULT_STREAM, DeviceArray
from sim_node.bridge.exported import Exported
from sim_node.bridge.mapped import Mapped
from sim_node.device.driver import call
from sim_node.layout import Layout


class DeviceFields:
    """The arrays of each slot, for the native reader, which calls ``taken``, ``ended``, ``fetch`` and ``absent``.

    ``stream`` is where the subscriber's own work runs: an address, by default the device's stream and the default one.
    ``why`` says for each field that there is not why it is not there.
    """

    def __init__(self, slots: Exported | Mapped | None, count: int, stream: int | None, why: dict[str, str]) -> None:
        self.slots, self.stream, self._why = slots, stream, why
        self.arrays: list[dict[str, DeviceArray]] = [slots.slot(i) for i in range(count)] if slots is not None else []
        self._layout = slots.layout if slots is not None else Layout((), 0)
        self._pinned: dict[int, list[memoryview]] = {}

    def taken(self, slot: int) -> None:
        """Let the stream wait until the slot is written, and the device's, which arrays tell other libraries of.

        Without events it is when the ring tells of it.
        """
        if self.slots is None or not self.slots.shared:
            return
        for stream in {None, self.stream}:
            self.slots.device.await_event(self.slots.shared[slot].event, stream)

    def ended(self) -> None:
        """Wait for what was asked of the stream: after it the slot is given back, and may be written."""
        if self.slots is None:
            return
        device = self.slots.device
        with device.active():
            for stream in (device.stream, DEFAULT_STREAM if self.stream is None else self.stream):
                call("cuStreamSynchronize", stream)

    def fetch(self, slot: int, name: str) -> np.ndarray[Any, Any] | None:
        """Copy a field to memory of the host that the GPU writes at full speed; None where it is none of these."""
        if self.slots is None or name not in self.arrays[slot]:
            return None
        field, device = self._layout[name], self.slots.device
        stream = device.stream if self.stream is None else self.stream
        block, address = self._block(field.nbytes)
        if field.nbytes:
            with device.active():
                call("cuMemcpyDtoHAsync", address, self.arrays[slot][name].ptr, field.nbytes, stream)
                call("cuStreamSynchronize", stream)
        flat = np.frombuffer(block, field.element.numpy, field.count * field.element.length)
        return flat.reshape(field.numpy_shape)

    def absent(self, name: str) -> str | None:
        """Say why a field is not there."""
        return self._why.get(name)

    def _block(self, nbytes: int) -> tuple[Any, int]:
        """Hand out pinned memory, which costs too much to be made each time; it comes back when nobody uses it."""
        assert self.slots is not None
        free = self._pinned.setdefault(nbytes, [])
        memory = free.pop() if free else self.slots.device.pinned(nbytes)
        address = ctypes.addressof(ctypes.c_ubyte.from_buffer(memory)) if nbytes else 0
        block = (ctypes.c_ubyte * nbytes).from_address(address) if nbytes else (ctypes.c_ubyte * 0)()
        weakref.finalize(block, free.append, memory).atexit = False
        return block, address
