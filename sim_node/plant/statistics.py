"""How a quantity of the ticks is distributed: the histograms of src/histogram.h, read out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# In the order of src/account.h: of the ticks, in nanoseconds; then of each input's commands, delay_ticks in ticks.
QUANTITIES = ("lateness", "step_time", "wake_to_commit", "answer_time")
COMMANDS = ("command_age", "delay_ticks")
ANSWERS = ("unanswered", "unanswered_step", "late")
COUNTERS = ("ticks", "misses", "skipped", "copies", "keyframes_skipped", "unanswered", "dropped", "lost")

_BITS = 6  # SN_HISTOGRAM_BITS


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """Values that were counted: nanoseconds, or ticks.

    ``counts[i]`` values lie in ``edges[i] … edges[i + 1] - 1``, u64; percentiles are known to 1.6 %, ``mean`` exactly,
    and so is ``max`` where it is the greatest since the start. All figures are 0 while ``count`` is 0.
    """

    count: int
    mean: float
    max: int
    counts: np.ndarray[Any, Any]
    edges: np.ndarray[Any, Any]

    @staticmethod
    def of(counts: np.ndarray[Any, Any], total: int, maximum: int) -> Distribution:
        """Describe buckets, the sum of all values, and what none of them exceeds."""
        count, bounds = int(counts.sum()), edges(len(counts))
        filled = np.flatnonzero(counts)
        if len(filled) and filled[-1] + 1 < len(counts):  # the last bucket has no end
            maximum = min(maximum, int(bounds[filled[-1] + 1]) - 1)
        return Distribution(count, total / count if count else 0.0, maximum if count else 0, counts, bounds)

    def percentile(self, percent: float) -> int:
        """The value that so many percent do not exceed: the middle of its bucket, and never above ``max``."""
        if self.count == 0:
            return 0
        rank = max(int(np.ceil(self.count * percent / 100)), 1)
        bucket = int(np.searchsorted(np.cumsum(self.counts), rank))
        low, high = int(self.edges[bucket]), int(self.edges[bucket + 1])
        return min(low + (high - low) // 2, self.max)

    @property
    def filled(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The buckets that hold something: least value and count of each, u64."""
        which = np.flatnonzero(self.counts)
        return self.edges[which], self.counts[which]

    @property
    def p50(self) -> int:
        """The median."""
        return self.percentile(50)

    @property
    def p99(self) -> int:
        """What one value in a hundred exceeds."""
        return self.percentile(99)

    @property
    def p999(self) -> int:
        """What one value in a thousand exceeds."""
        return self.percentile(99.9)


def edges(buckets: int) -> np.ndarray[Any, Any]:
    """The least value of each bucket, and of the one after the last."""
    number = np.arange(buckets + 1, dtype=np.uint64)
    octave, within = number >> np.uint64(_BITS), number & np.uint64((1 << _BITS) - 1)
    shift = np.maximum(octave, np.uint64(1)) - np.uint64(1)
    found: np.ndarray[Any, Any] = np.where(octave == 0, within, (within + np.uint64(1 << _BITS)) << shift)
    return found
