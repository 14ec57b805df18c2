"""Carries what coupled plants tell each other, in the order of simulated time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Event

from sim_node._native import Tick
from sim_node.bridge import Subscriber
from sim_node.errors import RingError
from sim_node.wires.member import BrokenError, Feed, Member
from sim_node.wires.network import Coupling

LOOK_S = 0.1  # how often it looks whether to end, and whether a plant is gone
WRITER = "coupling"


class Conductor:
    """Answers each tick of coupled plants with what the others have published by its simulated time.

    A tick is answered when all that the others published until then was read, so what a plant is told depends on
    simulated time alone, and plants that wait for the answer (clock lockstep) never come so far that one of their ticks
    is missed. It is a reader and a writer of each ring: the plants may be in any process of this host.
    ``tell`` gets a line when it waits for a plant, and when plants are no more at one time: then all are to be reset.
    Attributes: ``ready``, set while the plants are coupled; ``steps``, node → its tick that was read last.
    """

    def __init__(self, couplings: Sequence[Coupling], tell: Callable[[str], None]) -> None:
        self._couplings, self._tell = couplings, tell
        self._names = sorted({name for each in couplings for name in (each.source, each.target)})
        self.ready = Event()
        self.steps: dict[str, int] = {}

    def run(self, stop: Event) -> None:
        """Work until told to stop: wait for the plants, and follow them when they are reset or started again.

        Raises WireError where couplings do not fit the plants, RingError where a ring cannot be read or written.
        """
        while not stop.is_set():
            with ExitStack() as rings:
                try:
                    members = self._gather(rings, stop)
                    self._couple(members)
                    self._carry(list(members.values()), stop)
                except BrokenError as why:
                    self._tell(f"{why}; reset {', '.join(self._names)}: they are coupled from tick 0 on")
                finally:
                    self.ready.clear()

    def _gather(self, rings: ExitStack, stop: Event) -> dict[str, Member]:
        """Wait until each of the plants is at tick 0."""
        found: dict[str, Subscriber] = {}
        told = ""
        while not stop.is_set():
            waits = ""
            for name in self._names:
                try:
                    if name not in found:
                        found[name] = rings.enter_context(Subscriber(name, timeout=0.0, writer=WRITER))
                    with _first(found[name]):
                        pass
                except (RingError, BrokenError) as absent:
                    waits = waits or f"waits for {name}: {absent}"
            if not waits:
                return {name: Member(name, ring) for name, ring in found.items()}
            if waits != told:
                self._tell(waits)
            told = waits
            stop.wait(LOOK_S)
        return {}

    def _couple(self, members: dict[str, Member]) -> None:
        """Make the feeds, and answer tick 0 of each plant."""
        for name, member in members.items():
            feeds = [Feed(each, members[each.source], member) for each in self._couplings if each.target == name]
            for feed in feeds:
                feed.source.readers.append(feed)
            member.bind(feeds)
        for member in members.values():
            with _first(member.ring) as tick:
                member.take(tick)
        for member in members.values():
            member.answer()
        self.ready.set()

    def _carry(self, members: list[Member], stop: Event) -> None:
        """Read and answer ticks, the earliest first; of one time, all are read before any is answered.

        Who was answered is not waited for until its next tick is the earliest, so the plants work at the same time.
        """
        while not stop.is_set():
            member = min(members, key=lambda each: (each.time_ns, not each.answered))
            if member.answered:
                self._read(member, members, stop)
            else:
                member.answer()

    def _read(self, member: Member, members: list[Member], stop: Event) -> None:
        while not stop.is_set():
            try:
                tick = member.ring.next(LOOK_S)
            except RingError:  # paused, inactive, being started again, or gone
                for each in members:
                    if each.ring.ended:
                        raise BrokenError(f"{each.name} is gone: its ring is closed, or its process dead") from None
                continue
            with tick:
                member.take(tick)
            self.steps[member.name] = member.step
            return


@contextmanager
def _first(ring: Subscriber) -> Iterator[Tick]:
    """Take tick 0. Raises BrokenError where the plant is at another."""
    tick = ring.latest()
    if tick is None or ring.ended:
        raise BrokenError("it has no tick yet, or has ended")
    with tick:
        if tick.step:
            raise BrokenError(f"it is at tick {tick.step}, and couplings begin at tick 0: reset it")
        yield tick


@contextmanager
def conducting(couplings: Sequence[Coupling], tell: Callable[[str], None], stop: Event) -> Iterator[None]:
    """Carry couplings in a thread inside the block, which begins when the plants are coupled: their clocks may start.

    ``stop`` ends the waiting for that. Raises as ``Conductor.run``, on the way in or out; ``tell`` gets it at once.
    """
    conductor, leaving, faults = Conductor(couplings, tell), Event(), list[BaseException]()

    def run() -> None:
        try:
            conductor.run(leaving)
        except BaseException as fault:
            faults.append(fault)
            tell(f"the couplings ended: {fault}")

    thread = threading.Thread(target=run, name="sim_node couplings")
    thread.start()
    try:
        while not (conductor.ready.wait(LOOK_S) or faults or stop.is_set()):
            pass
        if not faults:
            yield
    finally:
        leaving.set()
        thread.join()
    if faults:
        raise faults[0]
