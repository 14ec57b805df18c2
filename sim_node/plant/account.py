"""Statistics of a stepper since its start, and since they were last reset."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from sim_node import _native
from sim_node.errors import PlantError
from sim_node.plant.statistics import COUNTERS, QUANTITIES, Distribution

GRANTS = ("priority", "affinity", "lock_memory")


class Account:
    """What the native stepper counted; the tick only ever adds, so a reset is a note of what there was."""

    def __init__(self, native: _native.Stepper) -> None:
        self._native = native
        empty: np.ndarray[Any, Any] = np.zeros(len(native.histogram(0)[3]) // 8, np.uint64)
        self._before = [(empty, 0) for _ in QUANTITIES]
        self._counted = (0,) * len(COUNTERS)

    def reset(self) -> None:
        """Note what there is now."""
        read = [self._native.histogram(number) for number in range(len(QUANTITIES))]
        self._before = [(np.frombuffer(counts, np.uint64), total) for total, _, _, counts in read]
        self._counted = self._native.counters()
        self._native.forget_maxima()

    def distributions(self, since: str) -> dict[str, Distribution]:
        """Describe each quantity since 'start' or 'reset'."""
        recent = _is_recent(since)
        found = {}
        for number, name in enumerate(QUANTITIES):
            total, maximum, recent_maximum, raw = self._native.histogram(number)
            counts = np.frombuffer(raw, np.uint64)
            if recent:
                before, total_before = self._before[number]
                counts, total, maximum = counts - before, total - total_before, recent_maximum
            found[name] = Distribution.of(counts, total, maximum)
        return found

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
