"""What rings there are on this host."""

from __future__ import annotations

from dataclasses import dataclass

from sim_node.bridge.transports import posix_shm
from sim_node.errors import RingError


@dataclass(frozen=True, slots=True)
class RingInfo:
    """A ring found on this host; ``problem`` says why it cannot be read, and then only name and transport are known.

    ``leases`` counts the slots held by readers now, ``readers`` the processes in the table.
    """

    name: str
    owner_pid: int | None
    alive: bool | None
    generation: int | None
    slots: int | None
    leases: int | None
    readers: int | None
    transport: str
    problem: str = ""


def rings() -> list[RingInfo]:
    """List the rings in shared memory, sorted by name, those that cannot be read with the reason."""
    found = []
    for path in sorted(posix_shm.FOLDER.glob("sim_node.*.*")):
        name = path.name.split(".", 2)[2]
        info = _mine(name) if path == posix_shm.path_of(name) else _unread(name, f"{path} is another user's")
        found += [info] if info else []
    return found


def _mine(name: str) -> RingInfo | None:
    try:
        segment = posix_shm.find(name)
    except RingError as error:
        return _unread(name, str(error))
    if segment is None:
        return None
    ring, readers = segment.ring, segment.ring.readers()
    leases = sum(held for _, _, held, *_ in readers)
    return RingInfo(
        name, ring.owner_pid, not ring.ended, ring.generation, ring.slots, leases, len(readers), segment.transport
    )


def _unread(name: str, problem: str) -> RingInfo:
    return RingInfo(name, None, None, None, None, None, None, posix_shm.TRANSPORT, problem)
