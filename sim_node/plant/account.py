"""Statistics of a stepper since its start, and since they were last reset."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from sim_node import _native
from sim_node.errors import PlantError
from sim_node.plant.statistics import ANSWERS, COMMANDS, COUNTERS, QUANTITIES, Distribution

GRANTS = ("priority", "affinity", "lock_memory")
GRANTED = ("granted", "not asked")


class Account:
    """What the native stepper counted, of its ticks and of the commands to so many inputs.

    The tick only ever adds, so a reset is a note of what there was, and there may be any number of accounts.
    """

    def __init__(self, native: _native.Stepper, inputs: int) -> None:
        self._native, self._inputs = native, inputs
        self._histograms = len(QUANTITIES) + inputs * len(COMMANDS)
        self.reset()

    def reset(self) -> None:
        """Note what there is now."""
        read = [self._native.histogram(number) for number in range(self._histograms)]
        self._before = [(np.frombuffer(counts, np.uint64), total) for total, _, counts in read]
        self._counted = self._native.counters()

    def distributions(self, since: str) -> dict[str, Distribution]:
        """Describe each quantity of the ticks, and of all commands together, since 'start' or 'reset'."""
        found = {name: self._describe([number], since) for number, name in enumerate(QUANTITIES)}
        for place, name in enumerate(COMMANDS):
            found[name] = self._describe([self._number(each, place) for each in range(self._inputs)], since)
        return found

    def commands(self, number: int, since: str) -> dict[str, Distribution]:
        """Describe the commands of the input of that number since 'start' or 'reset'."""
        return {name: self._describe([self._number(number, place)], since) for place, name in enumerate(COMMANDS)}

    def answers(self, number: int) -> dict[str, int]:
        """Count what lockstep found of the input of that number."""
        return dict(zip(ANSWERS, self._native.answers(number)))

    def _number(self, number: int, place: int) -> int:
        return len(QUANTITIES) + number * len(COMMANDS) + place

    def _describe(self, numbers: Sequence[int], since: str) -> Distribution:
        """Describe histograms as one."""
        recent = _is_recent(since)
        counts, total, maximum = np.zeros_like(self._before[0][0]), 0, 0
        for number in numbers:
            added, most, raw = self._native.histogram(number)
            before, added_before = self._before[number] if recent else (0, 0)
            counts += np.frombuffer(raw, np.uint64) - before
            total, maximum = total + added - added_before, max(maximum, most)
        return Distribution.of(counts, total, maximum)

    def counters(self, since: str) -> dict[str, int]:
        """Count since 'start' or 'reset'; a count that began anew meanwhile is told as it is."""
        now, before = self._native.counters(), self._counted if _is_recent(since) else (0,) * len(COUNTERS)
        return {name: n - b if n >= b else n for name, n, b in zip(COUNTERS, now, before)}

    def grants(self) -> Mapping[str, str]:
        """Name what was asked of the operating system, and its answer."""
        words = {-1: "not asked", 0: "granted"}
        return {name: words.get(code) or os.strerror(code) for name, code in zip(GRANTS, self._native.grants)}


def _is_recent(since: str) -> bool:
    if since not in ("start", "reset"):
        raise PlantError(f"statistics are told since 'start' or 'reset', not {since!r}")
    return since == "reset"
