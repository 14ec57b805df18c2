"""What verify found: counts, the first divergence, and what could not be verified and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sim_node.layout import Field, Layout


@dataclass(slots=True)
class Divergence:
    """Where a replay first differed from its bag.

    ``index recorded computed ulp`` are None until a keyframe, of step ``values_tick``, shows the element.
    """

    topic: str
    generation: int
    tick: int
    field: str
    index: list[int] | None = None
    recorded: Any = None
    computed: Any = None
    ulp: int | None = None
    values_tick: int | None = None


@dataclass(slots=True)
class Skip:
    """Recorded ticks ``first … last`` that could not be verified, and why."""

    topic: str
    generation: int
    first: int
    last: int
    reason: str


@dataclass(slots=True)
class Report:
    """The result of verifying a bag.

    ``ticks = verified + diverged + skipped`` are the ticks in the bag; ``lost`` ones never reached it.
    """

    bag: str
    device: str
    topics: list[str] = field(default_factory=list)
    ticks: int = 0
    verified: int = 0
    diverged: int = 0
    skipped: int = 0
    lost: int = 0
    keyframes: int = 0
    first_divergence: Divergence | None = None
    plan_changed: bool = False
    reproducible: bool = True
    torn: str = ""
    damage: str = ""
    skips: list[Skip] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """0 when every tick that could be replayed agrees, 1 when one diverged, 2 when the bag proves nothing."""
        if self.diverged:
            return 1
        return 0 if self.verified and not self.damage else 2

    @property
    def fault(self) -> str:
        """Say in one line why the bag proves nothing (exit code 2); empty when it proves something."""
        if self.exit_code != 2:
            return ""
        if self.damage:
            return f"the bag is damaged: {self.damage} ({self.verified} ticks verified)"
        torn = f" ({self.torn})" if self.torn else ""
        if not self.ticks:
            return f"no records in the bag{torn}; record the topics ~/record and ~/keyframe"
        reason = self.skips[0].reason if self.skips else "nothing to start from"
        return f"none of {self.ticks} ticks can be verified: {reason}{torn}"

    def note(self, text: str) -> None:
        """Add a note once."""
        if text not in self.notes:
            self.notes.append(text)

    def skip(self, topic: str, generation: int, first: int, last: int, reason: str) -> None:
        """Count ticks that cannot be verified, joined to the skip before when they continue it."""
        self.skipped += last - first + 1
        if self.skips:
            before = self.skips[-1]
            if (before.topic, before.generation, before.reason, before.last + 1) == (topic, generation, reason, first):
                before.last = last
                return
        self.skips.append(Skip(topic, generation, first, last, reason))

    def diverge(self, topic: str, generation: int, tick: int, name: str) -> None:
        """Remember the first tick that differs."""
        if self.first_divergence is None:
            self.first_divergence = Divergence(topic, generation, tick, name)


def first_difference(
    layout: Layout, recorded: bytes, computed: bytes, prefer: str = ""
) -> tuple[str, list[int], Any, Any, int | None] | None:
    """Find the first element that differs in its bits, in the field ``prefer`` if that differs.

    Returns field, index, recorded and computed value, and ULP distance (None but for floats), or None. Padding between
    fields is not compared.
    """
    for entry in sorted(layout, key=lambda entry: entry.name != prefer):
        found = _difference(entry, recorded, computed)
        if found is not None:
            return (entry.name, *found)
    return None


def _difference(entry: Field, recorded: bytes, computed: bytes) -> tuple[list[int], Any, Any, int | None] | None:
    left, right = entry.view(recorded), entry.view(computed)
    bits = f"u{left.dtype.itemsize}"
    differs = np.atleast_1d(left.view(bits) != right.view(bits))
    if not differs.any():
        return None
    at = np.unravel_index(int(differs.argmax()), differs.shape)[: left.ndim]
    return [int(i) for i in at], left[at].item(), right[at].item(), _ulp(left[at], right[at])


def _ulp(left: Any, right: Any) -> int | None:
    """Count the representable numbers from one float to another: bits as integers in the order of the reals."""
    if left.dtype.kind != "f" or np.isnan(left) or np.isnan(right):
        return None
    width = left.dtype.itemsize * 8

    def rank(value: Any) -> int:
        bits = int(value.view(f"u{width // 8}"))
        return bits if bits < 1 << (width - 1) else (1 << (width - 1)) - bits

    return abs(rank(left) - rank(right))
