"""The reader's side of a ring: ticks as views on the slots themselves, and commands back."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np

from sim_node._native import LANES, LEASES, NO_LANE, Reader, Ring, Tick
from sim_node.bridge.command import fill
from sim_node.bridge.device_fields import DeviceFields
from sim_node.bridge.exported import Exported
from sim_node.bridge.handle import Handle
from sim_node.bridge.mapped import reach
from sim_node.bridge.name import ring_name
from sim_node.bridge.offer import Offer
from sim_node.bridge.publisher import Publisher
from sim_node.bridge.segment import Segment
from sim_node.bridge.transports import shared
from sim_node.bridge.way import Way
from sim_node.errors import RingError
from sim_node.layout import Layout

POLL = 0.01  # seconds between looks for a ring that is not there yet
FOREVER = 2**62  # ns
PLACES = ("auto", "host", "device")


class Subscriber:
    """A reader of the ring of that node's name, of a Publisher in this process, or that a handle means.

    It outlives the producer: the next wait finds the ring that a restarted one made. Use it in one thread.
    ``timeout`` is in seconds, how long to wait for the ring to be there. ``writer`` is the name under which it sends
    commands, of which 23 bytes are kept; by default the program's. ``on`` is where this reader works: 'host' or
    'device', for fields that are on both; 'device' wants all that a GPU keeps, 'host' none of it, and 'auto' each field
    as it comes cheapest, which ``ways`` tells; it warns of those that do not come. ``stream`` is the one that work on
    arrays of a GPU is given to, an address; by default the device's, which the default stream waits for. A tick's slot
    is given back when that has ended.
    Attributes: ``layout``, ``inputs``, ``transport``, ``generation``, ``offer`` (what the producer tells of fields on a
    GPU, or None), ``ways`` (field → Way).
    Raises RingError when there is no ring in time, or it is another user's or damaged, and why 'device' cannot be.
    """

    def __init__(
        self,
        source: str | Publisher | Handle,
        timeout: float = 5.0,
        writer: str | None = None,
        on: str = "auto",
        stream: int | None = None,
    ) -> None:
        if on not in PLACES:
            raise RingError(f"a subscriber is on one of {', '.join(map(repr, PLACES))}, not {on!r}")
        self._on, self._stream = on, stream
        self._find: Callable[[], Segment | None]
        self._writer, self._wanted = writer, dict[str, tuple[int, bool]]()
        if isinstance(source, Publisher):
            self.name, self._find = source.name, lambda: source.segment
        else:
            self.name = source.name if isinstance(source, Handle) else ring_name(source)
            self._find = partial(shared.find, self.name)
        self._switches = -1
        first = source.find() if isinstance(source, Handle) else None
        self._adopt(first or self._search(None, timeout, time.monotonic() + timeout))

    @property
    def generation(self) -> int:
        """Which life of the ring is being read."""
        return self._segment.ring.generation

    @property
    def ended(self) -> bool:
        """Whether no more ticks will come of the ring that is being read: closed, or its producer is dead."""
        return self._segment.ring.ended

    def next(self, timeout: float | None = 1.0, spin_us: float = 0.0) -> Tick:
        """Wait for a tick newer than the last one taken; use it in a ``with`` block, which leases its slot.

        ``timeout`` is in seconds, None waits for ever; ``spin_us`` is how long to poll, which wakes sooner and burns a
        core, before sleeping. Raises RingError when no tick came: it says whether the producer is dead, closed the
        ring, or is silent. Leaving the block raises RingError when the lease ended before (the producer's
        ``lease_limit``) and the slot is another tick's: what was read may be torn, as ``tick.intact`` tells within.
        """
        limit = FOREVER if timeout is None else int(timeout * 1e9)
        start = time.monotonic_ns()
        tick = self._reader.next(limit, int(spin_us * 1e3))
        while tick is None:
            self._explain(timeout, start, limit)
            tick = self._reader.next(limit - (time.monotonic_ns() - start), int(spin_us * 1e3))
        return tick

    def latest(self) -> Tick | None:
        """Take the newest tick without waiting, also if it was taken before; None if there is none yet."""
        ring = self._segment.ring
        if ring.silent and ring.ended:
            found = self._find()
            if found is not None and not found.ring.ended:
                self._adopt(found)
        tick = self._reader.latest()
        if tick is None:
            self._require_lease()
        return tick

    def claim(self, name: str, priority: int = 0, exclusive: bool = False) -> None:
        """Become a writer of an input, in every generation from now on; ``command`` and ``send`` do it with defaults.

        Of the writers that sent lately the one of the highest ``priority`` is in charge, of equals the one that was.
        ``exclusive`` asks for the input alone, which its producer may also demand of every writer.
        Raises RingError that names who is in the way: the writer that has the input alone, or one of those that share
        it; KeyError when there is no such input.
        """
        index = self._input(name)
        if not isinstance(priority, int) or not -(1 << 31) <= priority < 1 << 31:
            raise RingError(f"a priority is a whole number of 32 bits, not {priority!r}")
        lane = self._reader.claim(index, self._writer, priority, exclusive)
        if isinstance(lane, tuple):
            code, pid, other = lane
            input_, who = f"input '{name}' of ring '{self.name}'", f"'{other}' (pid {pid})"
            raise RingError(
                f"{input_} has {LANES} writers, {who} among them, and takes no more: end one of them"
                if code == NO_LANE
                else f"{input_} is for one writer at a time and has one, {who}: end that one, or let both share the "
                "input (exclusive)"
            )
        self._wanted[name] = priority, exclusive
        self._lanes[name] = self._segment.lane(self.inputs[name], index, lane)

    def leave(self, name: str) -> None:
        """Send to an input no more: others may be in charge of it, or have it alone."""
        self._reader.leave(self._input(name))
        self._wanted.pop(name, None)
        self._lanes.pop(name, None)

    def command(self, name: str) -> np.ndarray[Any, Any]:
        """Give the free buffer of this writer's lane, to be filled in place and published by ``send(name)``.

        It holds an old command until filled, and is not to be written after the send. Raises as ``claim``.
        """
        index = self._input(name)
        if name not in self._lanes:
            self.claim(name, *self._wanted.get(name, (0, False)))
        return self._lanes[name][self._reader.prepare(index)]

    def send(self, name: str, command: Any = None, answers: int | None = None) -> None:
        """Send a command, or the one filled in after ``command(name)``; it is stamped as answering the tick last taken.

        ``answers`` is the step of another tick that it answers.
        Raises RingError when the value does not fit the input's shape and type, or as ``command`` does.
        """
        if command is not None:
            fill(self.command(name), name, command)
        try:
            self._reader.send(self._input(name), *(() if answers is None else (answers,)))
        except ValueError as error:
            raise RingError(f"nothing to send to input '{name}': call command('{name}') and fill it first") from error

    def statistics(self) -> dict[str, int]:
        """Count, for this generation, ticks taken, skipped (never seen), lost (gone before the lease) and held.

        ``revoked`` counts leases that were over before they were given back (the producer's ``lease_limit``);
        ``switches`` counts the changes to a new generation.
        """
        names = ("taken", "skipped", "lost", "revoked", "held")
        return {**dict(zip(names, self._reader.statistics)), "switches": self._switches}

    def close(self) -> None:
        """Leave the ring: give back leases and inputs. Views taken stay readable."""
        try:
            self._device.ended()
        finally:
            self._reader.close()

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def _input(self, name: str) -> int:
        try:
            return self._numbers[name]
        except KeyError:
            raise KeyError(f"no input '{name}'; there are {', '.join(self._numbers) or 'none'}") from None

    def _require_lease(self) -> None:
        held = self.statistics()["held"]
        if held == LEASES:
            raise RingError(f"{held} ticks of ring '{self.name}' are held at once: release one (leave its with block)")

    def _explain(self, timeout: float | None, start: int, limit: int) -> None:
        """Find out why there is no tick: go on with a new generation, or raise."""
        self._require_lease()
        ring = self._segment.ring
        if ring.ended:
            self._adopt(self._search(self._segment, timeout, (start + limit) / 1e9))
        elif time.monotonic_ns() - start >= limit:
            raise RingError(
                f"no tick from ring '{self.name}' within {timeout:g} s; its producer (pid {ring.owner_pid}) is alive: "
                "is the plant paused or inactive?"
            )

    def _search(self, last: Segment | None, timeout: float | None, deadline: float) -> Segment:
        """Wait for a ring with a living owner, after the ``last`` one has ended."""
        while True:
            segment = self._find() or last
            if segment is not None and not segment.ring.ended:
                return segment
            if time.monotonic() >= deadline:
                break
            time.sleep(POLL)
        waited = f"waited {timeout:g} s for another"
        if segment is None:
            raise RingError(f"there is no ring '{self.name}' of this user; {waited}: start its producer")
        why = "closed it" if segment.ring.closed else "is dead"
        raise RingError(f"the producer of ring '{self.name}' (pid {segment.ring.owner_pid}) {why}; {waited}")

    def _adopt(self, segment: Segment) -> None:
        """Read this segment from now on."""
        ring = segment.ring
        try:
            if hashlib.sha256(ring.layout).digest() != ring.digest:
                raise ValueError("the layout's text does not match its digest")
            layout, inputs = Layout.parse(ring.layout.decode()), Layout.parse(ring.inputs.decode())
            if layout.size != ring.slot_size or tuple(field.nbytes for field in inputs) != ring.input_sizes:
                raise ValueError("the layouts do not match the sizes of slots and mailboxes")
        except (ValueError, KeyError, TypeError) as error:
            raise RingError(f"ring '{self.name}' cannot be read: {error}") from error
        views: list[dict[str, Any]] = [{**segment.slot(layout, i, writable=False)} for i in range(ring.slots)]
        device, ways = self._reach(ring, layout, segment.transport)
        for fields, arrays in zip(views, device.arrays):
            fields.update((name, arrays[name]) for name in arrays if ways[name].place != "host")
        try:
            reader = Reader(ring, tuple(views), None if self.offer is None else device, _rehearsal)
        except OSError as error:
            raise RingError(f"ring '{self.name}' cannot take another reader: {error}") from error
        segment.memory[::4096]  # touch each page now, not at its first tick
        self.layout, self.inputs, self.transport = layout, inputs, segment.transport
        self._segment, self._reader, self._switches = segment, reader, self._switches + 1
        self._device, self.ways = device, ways
        self._numbers = {field.name: number for number, field in enumerate(inputs)}
        self._lanes: dict[str, tuple[np.ndarray[Any, Any], ...]] = {}

    def _reach(self, ring: Ring, layout: Layout, transport: str) -> tuple[DeviceFields, dict[str, Way]]:
        """Find the fields that a GPU keeps, and the way of each field."""
        ways = {field.name: Way(transport) for field in layout}
        self.offer = Offer.parse(ring.device, ring) if ring.device else None
        if self.offer is None:
            return DeviceFields(None, 0, None, {}), ways
        kept = [field.name for field in self.offer.layout]
        wanted = [name for name in kept if self._on == "device" or (self._on == "auto" and name not in ways)]
        try:
            slots = reach(ring, self.offer) if wanted else None
        except RingError as error:
            if self._on == "device":
                raise RingError(f"ring '{self.name}': {error}") from error
            slots, why = None, str(error)
            warnings.warn(f"ring '{self.name}': {', '.join(wanted)} do not come: {why}", RuntimeWarning, stacklevel=4)
        else:
            why = "this subscriber is on the host"
        if slots is None:
            ways |= {name: Way("", "host", why) for name in kept if name not in ways}
        else:
            here = "in_process" if isinstance(slots, Exported) else slots.transport
            told = "" if here == "in_process" else self.offer.why
            ways |= {name: Way(here, str(slots.device), told) for name in wanted}
        absent = {name: way.why for name, way in ways.items() if not way.transport}
        return DeviceFields(slots, ring.slots, self._stream, absent), ways


def _rehearsal(tick: Tick) -> None:
    """Do what readers do with each tick, so that the interpreter is warm for it when it comes."""
    with tick:
        for name in tick.keys()[:1]:
            tick[name]
        tick.age_ns  # noqa: B018
