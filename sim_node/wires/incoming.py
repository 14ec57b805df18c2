"""A message that is received: whether it is the one that was sent, what it sets, and how long it has been missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.layout import Layout
from sim_node.wires.end import End
from sim_node.wires.wiring import ZERO, Received, Wire

Commands = dict[str, np.ndarray[Any, Any]]


@dataclass(slots=True)
class ReceivedCounts:
    """What became of the messages of one name.

    ``wrong`` are those cut short or with another checksum, ``repeated`` those with the counter of the one before; both
    set nothing. ``unheard`` are those that came while the node was to be off the bus, ``lost`` those that a counter
    says never came, ``missing`` the time-outs, ``saturated`` the values out of the range of signal or input.
    ``shortest_ms`` and ``longest_ms`` are between messages, by the bus's stamps.
    """

    received: int = 0
    wrong: int = 0
    repeated: int = 0
    unheard: int = 0
    lost: int = 0
    missing: int = 0
    saturated: int = 0
    shortest_ms: float | None = None
    longest_ms: float | None = None


class Incoming:
    """One message.

    Attributes: ``received`` (its description), ``counts``, ``inputs`` (names of what it sets), ``missing``.
    """

    def __init__(self, received: Received) -> None:
        self.received, self.counts = received, ReceivedCounts()
        self.inputs: tuple[str, ...] = ()
        self.missing = False
        self._ends: list[End] = []
        self._flag: End | None = None
        self._seen_ns: int | None = None
        self._count: int | None = None
        self._stamp: float | None = None

    def bind(self, inputs: Layout) -> None:
        """Begin with a plant of these inputs, at any simulated time; WireError where a wire names none of them."""
        given = self.received
        self._ends = [End(wire, inputs, "input") for wire in given.wires]
        self._flag = End(Wire(f"{given.place}.flag", "", given.flag), inputs, "input") if given.flag else None
        ends = [*self._ends, *([self._flag] if self._flag else [])]
        self.inputs = tuple(dict.fromkeys(end.field for end in ends))
        self.missing, self._seen_ns = False, None

    def take(self, content: bytes, stamp: float, now_ns: int, commands: Commands) -> bool:
        """Set what a message says in the commands; says whether it is one to heed.

        ``stamp`` is the bus's, in seconds; ``now_ns`` the simulated time.
        """
        read = self.received.coding.decode(content)
        if read is None:
            self.counts.wrong += 1
            return False
        raw, count = read
        if self._again(count):
            self.counts.repeated += 1
            return False
        self.counts.received += 1
        self._note(stamp)
        self._seen_ns, self.missing = now_ns, False
        for end in self._ends:
            if end.wire.signal not in raw:  # of another branch of a multiplexed message
                continue
            scaling = self.received.coding.scalings[end.wire.signal]
            within, beyond = scaling.within(raw[end.wire.signal])
            beyond |= end.write(commands[end.field], scaling.physical(within))
            self.counts.saturated += beyond
        if self._flag:
            self._flag.clear(commands[self._flag.field])
        return True

    def watch(self, now_ns: int, commands: Commands) -> bool:
        """Set in the commands what a missing message means; says whether it is missing from now on."""
        timeout = self.received.timeout_ns
        if self._seen_ns is None:
            self._seen_ns = now_ns
        if not timeout or self.missing or now_ns - self._seen_ns <= timeout:
            return False
        self.missing = True
        self._count = None  # who was away may count from anywhere
        self._stamp = None
        self.counts.missing += 1
        if self.received.missing == ZERO:
            for end in self._ends:
                end.clear(commands[end.field])
        if self._flag:
            self._flag.clear(commands[self._flag.field], 1.0)
        return True

    def _again(self, count: int) -> bool:
        """Follow the counter; says whether it stands where it stood."""
        counts, before = self.received.coding.counts, self._count
        if not counts:
            return False
        self._count = count
        if before is None:
            return False
        step = (count - before) % counts
        self.counts.lost += max(step - 1, 0)
        return step == 0

    def _note(self, stamp: float) -> None:
        if self._stamp is not None:
            gap, told = round((stamp - self._stamp) * 1e3, 3), self.counts
            told.shortest_ms = gap if told.shortest_ms is None else min(gap, told.shortest_ms)
            told.longest_ms = gap if told.longest_ms is None else max(gap, told.longest_ms)
        self._stamp = stamp
