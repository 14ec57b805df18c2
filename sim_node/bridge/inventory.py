"""What rings there are on this host, who reads them, and who sends to their inputs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sim_node._native import Ring
from sim_node.bridge.huge_pages import count
from sim_node.bridge.offer import Offer
from sim_node.bridge.segment import Segment
from sim_node.bridge.transports import shared
from sim_node.errors import RingError
from sim_node.layout import Layout

NO_TICK = 2**64 - 1  # SN_NONE


@dataclass(frozen=True, slots=True)
class ReaderInfo:
    """A place in a ring's table of readers.

    ``leases`` are slots held now, ``step`` is that of the tick taken last; ``skipped`` counts commits never seen,
    ``lost`` slots that were gone before the lease, ``revoked`` leases that were over before they were given back.
    ``uid`` is the process's effective user, None where it has gone.
    """

    pid: int
    alive: bool
    leases: int
    step: int
    taken: int
    skipped: int
    lost: int
    revoked: int
    uid: int | None


@dataclass(frozen=True, slots=True)
class WriterInfo:
    """Who sends to an input.

    ``sent`` counts commands of this lane since the ring was made, ``applied`` those of them that a tick applied.
    """

    pid: int
    alive: bool
    name: str
    priority: int
    sent: int
    applied: int
    in_charge: bool


@dataclass(frozen=True, slots=True)
class InputInfo:
    """An input of a ring: its rules, the command that was applied last, and its writers.

    ``step`` is the tick that applied that command, ``answers`` the one that it answers (None: none), ``age_ns`` how old
    it was then; all are None while none has been. ``silence`` is in ticks.
    """

    name: str
    exclusive: bool
    silence: int
    step: int | None
    answers: int | None
    age_ns: int | None
    writers: tuple[WriterInfo, ...]

    @property
    def charge(self) -> WriterInfo | None:
        """The writer in charge."""
        return next((writer for writer in self.writers if writer.in_charge), None)


@dataclass(frozen=True, slots=True)
class RingInfo:
    """A ring found on this host; ``problem`` says why it cannot be read, and then only name and transport are known.

    ``leases`` counts the slots held by readers now, each for ``lease_limit_ns`` at most (0: for ever). ``step`` is that
    of the newest tick and ``age_ns`` the time since, None before the first; ``dropped`` counts ticks that found every
    slot leased, ``huge_bytes`` what of it lies in huge pages. ``device_transport`` is how fields on a GPU come ('':
    there are none), ``mapped_by`` the pids of those who map them.
    """

    name: str
    transport: str
    owner_pid: int | None = None
    alive: bool | None = None
    generation: int | None = None
    slots: int | None = None
    leases: int | None = None
    lease_limit_ns: int | None = None
    step: int | None = None
    age_ns: int | None = None
    dropped: int | None = None
    copies_per_tick: float | None = None
    huge_bytes: int | None = None
    device_transport: str = ""
    mapped_by: tuple[int, ...] = ()
    readers: tuple[ReaderInfo, ...] = ()
    inputs: tuple[InputInfo, ...] = ()
    problem: str = ""


def rings() -> list[RingInfo]:
    """List the rings in shared memory, those that cannot be read with the reason."""
    found = []
    for transport, module in shared.SHARED.items():
        for name, place, attach in module.rings():
            theirs = f"{place} is another user's or group's"
            info = _mine(attach, name, transport) if attach else _unread(name, transport, theirs)
            found += [info] if info else []
    return found


def inputs_of(ring: Ring, inputs: Layout) -> tuple[InputInfo, ...]:
    """Tell of each input of a ring who sends to it, and of the command that was applied last."""
    found = []
    for number, field in enumerate(inputs):
        exclusive, silence, last, writers = ring.mailbox(number)
        step, answers, age_ns = last or (None, None, None)
        told = tuple(WriterInfo(*writer) for writer in writers if writer is not None)
        answered = None if answers == NO_TICK else answers
        found.append(InputInfo(field.name, exclusive, silence, step, answered, age_ns, told))
    return tuple(found)


def _mine(attach: Callable[[], Segment | None], name: str, transport: str) -> RingInfo | None:
    try:
        segment = attach()
        if segment is None:
            return None
        layout = Layout.parse(segment.ring.inputs.decode())
        if tuple(field.nbytes for field in layout) != segment.ring.input_sizes:
            raise RingError(f"ring '{name}' cannot be read: the layout of its inputs does not match their sizes")
        inputs = inputs_of(segment.ring, layout)
        device = Offer.parse(segment.ring.device, segment.ring).transport if segment.ring.device else ""
    except (RingError, ValueError, KeyError, TypeError) as error:
        return _unread(name, transport, str(error))
    ring, readers = segment.ring, tuple(ReaderInfo(*row, _uid(row[0])) for row in segment.ring.readers())
    number, step, sent_ns = ring.newest or (0, None, 0)
    ticks = number + ring.dropped
    return RingInfo(
        name,
        segment.transport,
        owner_pid=ring.owner_pid,
        alive=not ring.ended,
        generation=ring.generation,
        slots=ring.slots,
        leases=sum(reader.leases for reader in readers),
        lease_limit_ns=ring.lease_limit_ns,
        step=step,
        age_ns=None if step is None else time.monotonic_ns() - sent_ns,
        dropped=ring.dropped,
        copies_per_tick=ring.copies / max(ticks, 1),
        huge_bytes=count(segment.memory),
        device_transport=device,
        mapped_by=tuple(ring.mappers()),
        readers=readers,
        inputs=inputs,
    )


def _uid(pid: int) -> int | None:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return next(int(line.split()[2]) for line in status.splitlines() if line.startswith("Uid:"))


def _unread(name: str, transport: str, problem: str) -> RingInfo:
    return RingInfo(name, transport, problem=problem)
