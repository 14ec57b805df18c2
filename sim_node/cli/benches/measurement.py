"""The result of a bench: figures of ours, figures of each peer from the same run, and the ratios between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from sim_node.cli.benches import machine
from sim_node.device.cuda import Cuda


@dataclass
class Measurement:
    """One run of a bench; ``peers`` holds figures, or ``{"absent": reason}`` where a peer could not run.

    ``device`` is the GPU that was measured, if it was one.
    """

    name: str
    figures: dict[str, Any] = field(default_factory=dict)
    peers: dict[str, dict[str, Any]] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    device: Cuda | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints and ``docs/measurements/`` keeps."""
        return {
            "name": self.name,
            "machine": machine.describe(self.device),
            "figures": self.figures,
            "peers": self.peers,
            "ratios": self.ratios,
        }


def quantiles(samples_ns: Sequence[int] | np.ndarray[Any, Any]) -> dict[str, float]:
    """Return count, p50, p99, p99.9 and max of nanosecond samples, in µs."""
    values: np.ndarray[Any, Any] = np.asarray(samples_ns, dtype=np.float64) / 1e3
    if values.size == 0:
        return {"count": 0}
    p50, p99, p999 = np.percentile(values, (50, 99, 99.9))
    return {
        "count": int(values.size),
        "p50_us": round(float(p50), 3),
        "p99_us": round(float(p99), 3),
        "p999_us": round(float(p999), 3),
        "max_us": round(float(values.max()), 3),
    }


def per_call_us(call: Callable[[], object], *, batches: int = 60, calls: int = 2000) -> float:
    """Return the median over batches of the mean time of one call, in µs.

    The mean inside a batch hides the clock's own cost, the median over batches hides the machine's other tenants.
    """
    for _ in range(calls):
        call()
    means = []
    for _ in range(batches):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            call()
        means.append((time.perf_counter_ns() - begin) / calls)
    return float(np.median(means)) / 1e3


def alternated_us(calls: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Return the median time of each call in µs, over rounds in which each is called once."""
    return {name: float(np.median(times)) / 1e3 for name, times in alternated_ns(calls, rounds=rounds).items()}


def alternated_ns(calls: Mapping[str, Callable[[], object]], *, rounds: int, repeats: int = 1) -> dict[str, list[int]]:
    """Return the times of each call in ns, over rounds in which each is called so many times in a row.

    Taking turns spreads the machine's other tenants over all of them, and a random order what one call leaves in the
    caches for the next.
    """
    times: dict[str, list[int]] = {name: [] for name in calls}
    order, random, clock = list(calls), Random(1), time.perf_counter_ns
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            call, keep = calls[name], times[name].append
            for _ in range(repeats):
                begin = clock()
                call()
                keep(clock() - begin)
    return times


def cost_percent(fast: float, faster: float) -> float:
    """Say how much longer something takes, from the speed that it has and the one that it would have without."""
    return round(100 * (faster / fast - 1), 2)
