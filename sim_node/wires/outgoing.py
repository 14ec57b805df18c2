"""A message that is sent: when it is due, and what a tick gives it to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.layout import Layout
from sim_node.wires.end import End
from sim_node.wires.wiring import Sent


@dataclass(slots=True)
class SentCounts:
    """What became of the messages of one name: ``saturated`` counts values, ``late`` cycles that no tick came in."""

    sent: int = 0
    saturated: int = 0
    late: int = 0
    failed: int = 0


class Outgoing:
    """One message. Attributes: ``sent`` (its description), ``counts``."""

    def __init__(self, sent: Sent) -> None:
        self.sent, self.counts = sent, SentCounts()
        self._ends: list[End] = []
        self._due = -1

    def bind(self, outputs: Layout) -> None:
        """Begin with a plant of these outputs, at any simulated time; WireError where a wire names none of them."""
        self._ends = [End(wire, outputs, "published field") for wire in self.sent.wires]
        self._due = -1

    def due(self, stamp_ns: int) -> bool:
        """Say whether the message goes out with the tick of that simulated time: once a multiple of its cycle."""
        cycle, phase = self.sent.cycle_ns, self.sent.phase_ns
        if cycle == 0:
            return True
        if self._due < 0:  # the first multiple that is not past
            self._due = phase + max(-(-(stamp_ns - phase) // cycle), 0) * cycle
        if stamp_ns < self._due:
            return False
        passed = (stamp_ns - self._due) // cycle
        self.counts.late += passed
        self._due += (passed + 1) * cycle
        return True

    def content(self, value_of: Callable[[str], np.ndarray[Any, Any]]) -> bytes:
        """Make the bytes of what ``value_of`` gives for each field."""
        coding, raw = self.sent.coding, dict(self.sent.constants)
        for end in self._ends:
            raw[end.wire.signal], saturated = coding.scalings[end.wire.signal].raw(end.read(value_of(end.field)))
            self.counts.saturated += saturated
        return coding.encode(raw, self.counts.sent + self.counts.failed)
