"""What a subscriber has of the fields that a GPU keeps: arrays in each slot, ordered by events, and copies by DMA."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from sim_node import _native
from sim_node.bridge.device_array import DEFAULT_STREAM, DeviceArray
from sim_node.bridge.exported import Exported
from sim_node.bridge.mapped import Mapped
from sim_node.device.driver import call, lost
from sim_node.layout import Layout

_UNUSED = 3  # references to memory that is in its list, in a variable, and asked for


class DeviceFields:
    """The arrays of each slot, for the native reader, which calls ``taken``, ``ended``, ``fetch`` and ``absent``.

    ``stream`` is where the subscriber's own work runs: an address, by default the device's stream and the default one.
    ``why`` says for each field that there is not why it is not there.
    """

    def __init__(self, slots: Exported | Mapped | None, count: int, stream: int | None, why: dict[str, str]) -> None:
        self.slots, self.stream, self._why = slots, stream, why
        self.arrays: list[dict[str, DeviceArray]] = [slots.slot(i) for i in range(count)] if slots is not None else []
        self._layout = slots.layout if slots is not None else Layout((), 0)
        self._pinned: dict[str, list[np.ndarray[Any, Any]]] = {}

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
        memory, device = self._memory(name), self.slots.device
        stream = int(device.stream) if self.stream is None else self.stream
        if memory.nbytes:
            at = memory.ctypes.data, self.arrays[slot][name].ptr, memory.nbytes
            if result := _native.fetch(int(device.primary), stream, *at):
                raise lost(f"the copy of field '{name}'", result)
        return memory.reshape(self._layout[name].numpy_shape)

    def absent(self, name: str) -> str | None:
        """Say why a field is not there."""
        return self._why.get(name)

    def _memory(self, name: str) -> np.ndarray[Any, Any]:
        """Hand out pinned memory for a field that nobody else uses: to pin some costs too much to be done each time."""
        made = self._pinned.setdefault(name, [])
        for memory in made:
            if sys.getrefcount(memory) == _UNUSED:  # arrays that were given out are views of it
                return memory
        assert self.slots is not None
        field = self._layout[name]
        block = self.slots.device.pinned(max(field.nbytes, 8))
        made.append(np.frombuffer(block, field.element.numpy, field.count * field.element.length))
        return made[-1]
