"""What ``sim-node top`` shows of a plant: its ring, looked at now and before, and its node's statistics."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim_node.bridge import RingInfo
    from sim_node.node.remote import Remote

# of sim_node/msg/Histogram
FIGURES = ("unit", "count", "mean", "p50", "p99", "p999", "max")


@dataclass(frozen=True)
class Gauge:
    """A plant: ``rate`` is in ticks a second since the look before (None: the first, or another life of the ring).

    ``clock``, ``state``, ``factor``, ``counters`` and ``histograms`` are the node's, which tells them by ROS; else
    ``state`` is 'alive', 'ended' or 'unreadable', and the others are empty.
    """

    ring: RingInfo
    rate: float | None
    state: str
    clock: str
    factor: float | None
    counters: dict[str, int]
    histograms: dict[str, dict[str, Any]]

    def result(self) -> dict[str, Any]:
        """Make it an object of JSON; the buckets of histograms stay out."""
        histograms = {name: {key: each[key] for key in FIGURES} for name, each in self.histograms.items()}
        own = {"rate_hz": self.rate, "state": self.state, "clock": self.clock, "real_time_factor": self.factor}
        return {**asdict(self.ring), **own, "counters": self.counters, "histograms": histograms}


class Gauges:
    """Looks at all rings of this host, again and again."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[RingInfo, int]] = {}

    def look(self, wanted: str = "", remote: Remote | None = None) -> list[Gauge]:
        """Look now at the ring ``wanted`` ('': at all); ``remote`` tells more of the plant that it follows."""
        from sim_node.bridge import rings

        now = time.monotonic_ns()
        found = [ring for ring in rings() if not wanted or ring.name == wanted]
        made = [self._gauge(ring, now, remote) for ring in found]
        self._before = {ring.name: (ring, now) for ring in found}
        return made

    def _gauge(self, ring: RingInfo, now: int, remote: Remote | None) -> Gauge:
        rate = None
        before = self._before.get(ring.name)
        if before is not None and before[0].generation == ring.generation and None not in (before[0].step, ring.step):
            rate = ((ring.step or 0) - (before[0].step or 0)) * 1e9 / max(now - before[1], 1)
        state = "unreadable" if ring.problem else "alive" if ring.alive else "ended"
        stats = remote.stats if remote is not None and remote.name == node_of(ring.name) else None
        if stats is None or stats.generation != ring.generation:
            return Gauge(ring, rate, state, "", None, {}, {})
        counters = dict(zip(stats.counters, map(int, stats.counted_since_reset)))
        histograms = {
            each.name: {
                **{name: getattr(each, name) for name in FIGURES},
                "edges": list(each.edges),
                "counts": list(each.counts),
            }
            for each in stats.since_reset
            if each.count
        }
        return Gauge(ring, rate, stats.state, stats.clock, stats.real_time_factor or None, counters, histograms)


def node_of(ring: str) -> str:
    """The full name of the node whose ring has that name."""
    return f"/{ring.replace('.', '/')}"
