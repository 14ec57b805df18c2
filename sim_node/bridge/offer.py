"""What a producer tells of the fields that a GPU keeps: as text in the ring, read by whoever would map them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim_node._native import SPARES, Ring
from sim_node.errors import RingError
from sim_node.layout import Layout

FORMAT = 1
STRIDE = 256  # bytes that slots are aligned to: those of what the driver allocates, and of the widest transaction
HANDLE_BYTES = 64
_MOST = 1 << 48  # bytes; more is damage


@dataclass(frozen=True)
class Offer:
    """Slots in the memory of a GPU, as many as the ring's, spares too, each ``stride`` bytes behind the one before.

    They begin ``offset`` bytes into what ``memory`` names, of ``nbytes`` in all; ``events`` has one a slot, or none.
    They come by ``transport``, and ``why`` by that one. Who made it: ``generation`` of the ring, ``pid`` and ``start``
    time of the process, ``uid``, inodes of its ``ipc_namespace`` and ``net_namespace``; on the GPU of that ``uuid`` and
    ``title``, by that ``driver``.
    """

    transport: str
    why: str
    generation: int
    pid: int
    start: int
    uid: int
    ipc_namespace: int
    net_namespace: int
    uuid: str
    title: str
    driver: str
    layout: Layout
    stride: int
    offset: int
    nbytes: int
    memory: bytes
    events: tuple[bytes, ...]

    def text(self) -> str:
        """The canonical JSON text; its length does not depend on the generation."""
        body: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        body |= {"format": FORMAT, "generation": f"{self.generation:016x}", "layout": json.loads(self.layout.text())}
        body |= {"memory": self.memory.hex(), "events": [event.hex() for event in self.events]}
        return json.dumps(body, sort_keys=True, separators=(",", ":"))

    @staticmethod
    def parse(text: bytes, ring: Ring) -> Offer:
        """Read the text of a ring back; text from another process is not trusted.

        Raises RingError for what is malformed, does not fit the ring, or was made by another process or generation:
        such a handle would lead into memory that is not meant.
        """
        try:
            body = json.loads(text)
            if body.pop("format") != FORMAT:
                raise ValueError(f"it is not of format {FORMAT}")
            body["generation"] = int(body["generation"], 16)
            body["layout"] = Layout.parse(json.dumps(body["layout"]))
            body["memory"], body["events"] = bytes.fromhex(body["memory"]), tuple(map(bytes.fromhex, body["events"]))
            offer = Offer(**body)
            offer._check(ring.slots + SPARES)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise RingError(f"the ring tells of fields on a GPU what cannot be read: {error}") from error
        for what, told, known in (
            ("generation", offer.generation, ring.generation),
            ("owner's pid", offer.pid, ring.owner_pid),
            ("owner's start time", offer.start, ring.owner_start),
            ("owner's uid", offer.uid, ring.owner_uid),
        ):
            if told != known:
                raise RingError(
                    f"the handle of the fields on a GPU is of another life of the ring: its {what} is {told}, the "
                    f"ring's {known}; read the ring of the running node"
                )
        return offer

    def _check(self, slots: int) -> None:
        life = self.pid, self.start, self.uid, self.ipc_namespace, self.net_namespace
        numbers = (*life, self.stride, self.offset, self.nbytes)
        if not all(type(number) is int and 0 <= number < 1 << 63 for number in numbers):
            raise ValueError("a number is none")
        if not all(type(word) is str for word in (self.transport, self.why, self.uuid, self.title, self.driver)):
            raise ValueError("a text is none")
        if self.stride % STRIDE or self.stride < self.layout.size or self.offset % STRIDE or self.nbytes > _MOST:
            raise ValueError(
                f"slots of {self.layout.size} bytes do not lie {self.stride} bytes apart from {self.offset}"
            )
        if self.offset + slots * self.stride > self.nbytes:
            raise ValueError(f"{slots} slots of {self.stride} bytes do not lie inside {self.nbytes} bytes")
        if len(self.memory) != HANDLE_BYTES:
            raise ValueError(f"the handle of the memory has {len(self.memory)} bytes, not {HANDLE_BYTES}")
        if len(self.events) not in (0, slots) or any(len(event) != HANDLE_BYTES for event in self.events):
            raise ValueError(f"{len(self.events)} events are not one a slot, each of {HANDLE_BYTES} bytes")


def namespace(kind: str) -> int:
    """Tell the inode of this process's namespace of that kind, 'ipc' or 'net': another one is another container."""
    path = Path("/proc/self/ns", kind)
    return os.stat(path).st_ino if path.exists() else 0
