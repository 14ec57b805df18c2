"""The producer's side of a ring: slots to fill in place, and the mailboxes to take commands from."""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import Collection
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np

from sim_node._native import SILENCE, SPARES, Ring
from sim_node.bridge.exported import Exported
from sim_node.bridge.huge_pages import gather
from sim_node.bridge.name import ring_name
from sim_node.bridge.segment import Segment, Views
from sim_node.bridge.transports import in_process, posix_shm, shared
from sim_node.device.cuda import Cuda
from sim_node.device.driver import DriverError
from sim_node.device.sharing import AUTO, TRANSPORTS, choose
from sim_node.errors import RingError
from sim_node.layout import Layout


class Publisher:
    """Owner of a ring with this layout of a slot, and one mailbox for each field of ``inputs``.

    ``name`` is the node's name; without one the ring lies in anonymous memory of this process. Inputs named in
    ``exclusive`` are for one writer at a time; a writer that sent nothing for ``silence`` ticks is no longer in charge
    of an input. Fields of ``device_layout`` lie in as many slots of a GPU's memory, which its kernels fill
    (``Stepper(slots=…)``); other processes get them by ``device_transport``: 'cuda_ipc', 'vmm', or 'auto', the first
    of these that the GPU has. Other processes share the ring by ``transport``: 'posix_shm', a file in /dev/shm, or
    'memfd', memory without a file that is sealed to its size. The ring is for this user alone, or for the members of
    ``group`` (a name or a number) as well. With ``huge_pages`` its memory lies in huge pages where the kernel makes
    them; a warning says why it does not. A reader that holds a slot for longer than ``lease_limit`` seconds (0: no
    limit) loses it when the producer wants it, and is told (``Subscriber.next``).
    Attributes: ``ring`` (the native ring, for the stepper), ``transport``, ``layout``, ``inputs``, ``exported`` (those
    slots of a GPU, or None).
    Raises RingError when the ring cannot be made: a bad or taken name, another user's, more memory than is free, an
    unknown input or group, a silence or limit that is none, a GPU that shares none (``device.sharing.choose`` tells
    before).
    """

    def __init__(
        self,
        layout: Layout,
        inputs: Layout | None = None,
        name: str | None = None,
        slots: int = 4,
        *,
        exclusive: Collection[str] = (),
        silence: int = SILENCE,
        transport: str = posix_shm.TRANSPORT,
        group: str | None = None,
        huge_pages: bool = False,
        lease_limit: float = 0.0,
        device_layout: Layout | None = None,
        device: Cuda | None = None,
        device_transport: str = AUTO,
    ) -> None:
        self.layout, self.inputs = layout, inputs if inputs is not None else Layout((), 0)
        names = [field.name for field in self.inputs]
        if unknown := sorted(set(exclusive) - set(names)):
            raise RingError(f"there is no input '{unknown[0]}' to be exclusive; there are {', '.join(names) or 'none'}")
        if not 1 <= silence < 1 << 32:
            raise RingError(f"a writer is silent after at least 1 tick and less than 2^32, not {silence!r}")
        if not 0 <= lease_limit < 1e9:
            raise RingError(f"a lease lasts 0 (for ever) to 1e9 seconds, not {lease_limit!r}")
        if transport not in shared.SHARED:
            known = ", ".join(map(repr, shared.SHARED))
            raise RingError(f"processes share a ring by one of {known}, not {transport!r}")
        sizes, texts = (
            tuple(field.nbytes for field in self.inputs),
            (layout.text().encode(), self.inputs.text().encode()),
        )
        if device_transport not in TRANSPORTS:
            known = ", ".join(map(repr, TRANSPORTS))
            raise RingError(f"fields on a GPU come by one of {known}, not {device_transport!r}")
        there = device_layout if device_layout is not None and device_layout.size else None
        exported = None
        if there is not None:
            exported = _exported(there, device, slots, name or "anonymous", device_transport)
        self.exported = exported

        def offered(generation: int) -> bytes:
            return b"" if exported is None else exported.offer(generation).text().encode()

        try:
            size = Ring.size(slots, layout.size, sizes, len(texts[0]), len(texts[1]), len(offered(0)))
        except (ValueError, OverflowError) as error:
            raise RingError(f"ring '{name or 'anonymous'}' cannot be laid out: {error}") from error

        def form(memory: Any, generation: int) -> Ring:
            digest = bytes.fromhex(layout.digest)
            ring = Ring.create(memory, slots, layout.size, sizes, generation, digest, *texts, offered(generation))
            for index, field in enumerate(names):
                ring.rule(index, field in exclusive, silence)
            ring.limit_leases(round(lease_limit * 1e9))
            return ring

        number = posix_shm.group_id(group) if group is not None else None
        if name is None:
            self.segment = in_process.create("anonymous", size, form)
        else:
            self.segment = shared.create(transport, ring_name(name), size, form, number)
        self.name, self.transport, self.ring = self.segment.name, self.segment.transport, self.segment.ring
        if exported is not None:
            exported.begin(self.ring.generation, number)
        views = partial(self.segment.slot, layout, writable=True)
        self._slots = tuple(Slot(self.ring, i, views(i)) for i in range(slots + SPARES))
        self._close = weakref.finalize(self, _end, self.segment, exported)
        if huge_pages and (why := gather(self.segment.memory)):
            warnings.warn(f"ring '{self.name}' has ordinary pages: {why}", RuntimeWarning, stacklevel=2)

    @property
    def generation(self) -> int:
        """Which life of the ring this is."""
        return self.ring.generation

    def next(self) -> Slot:
        """Choose the slot to fill: never the one last committed, nor one that a reader leases."""
        return self._slots[self.ring.next()]

    def take(self, name: str) -> np.ndarray[Any, Any] | None:
        """Copy the newest command of an input's writer in charge out; None if none came since the last call."""
        field = self.inputs[name]
        command = np.empty(field.numpy_shape, field.element.numpy)
        taken = self.ring.take(self.inputs.fields.index(field), command.data)
        return command if isinstance(taken, tuple) else None

    def close(self) -> None:
        """Tell the readers and remove the segment; views on it stay readable."""
        self._close()

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


class Slot:
    """A slot to fill: ``slot[name]`` is a writable view of the field. Without ``commit`` nothing is published."""

    __slots__ = ("_ring", "_views", "index")

    def __init__(self, ring: Ring, index: int, views: Views) -> None:
        self._ring, self.index, self._views = ring, index, views

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        return self._views[name]

    def commit(self, step: int, stamp_ns: int, hash: int = 0) -> None:
        """Publish the slot as the tick of that number and simulated time, and ring the bell."""
        self._ring.commit(self.index, step, stamp_ns, hash)
        self._ring.heartbeat()

    def __enter__(self) -> Slot:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        pass


def _exported(layout: Layout, device: Cuda | None, slots: int, name: str, transport: str) -> Exported:
    """Make slots on a GPU. Raises RingError saying why there can be none."""
    if device is None:
        raise RingError(f"ring '{name}' has fields on a GPU: say which, device=get_device('cuda:0')")
    try:
        choice = choose(device, transport)
        if choice.transport:
            return Exported(layout, device, slots, choice)
    except (MemoryError, DriverError) as error:
        raise RingError(f"ring '{name}' cannot have fields on {device.title}: {error}") from error
    raise RingError(f"ring '{name}' cannot have fields on {device.title}: {choice.why}")


def _end(segment: Segment, exported: Exported | None) -> None:
    """Close the ring, in the process that made it only: a forked child owns nothing."""
    if segment.ring.owner_pid != os.getpid():
        return
    segment.ring.close()
    shared.remove(segment)
    if exported is not None:
        exported.retire(segment.ring)
