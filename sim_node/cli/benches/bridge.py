"""How fast a state reaches another process: the ring by spin and by futex, beside its peers, in one run.

``wake`` counts from the commit to the reader having its view on the slot; ``call`` from just before the producer's
call, which is where the peers' stamps are taken. ``vs_rclpy`` is against serializing alone (numpy → message → bytes →
message → numpy in one process, the least that any rclpy transport adds), ``vs_rclpy_message`` against the whole way to
the array in a subscriber's callback. ``vs_iceoryx2`` is the least of its ratios, each with both sides waiting the same
way: polling, or asleep until a bell or an event. Producers and readers are Python at 1 kHz, but for ``c_reader``, which
reads through the header, and ``cpp_controller``, which closes the loop of a compiled plant in lockstep: ``loop`` is
from a commit to the next: the way there, the controller, the way back, and the plant's step.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.cli.benches import bridge_peers
from sim_node.cli.benches.absence import absence
from sim_node.cli.benches.bridge_ring import Source, crowd, round_trips, wake
from sim_node.cli.benches.measurement import Measurement, quantiles
from sim_node.cli.benches.native import compiled
from sim_node.cli.benches.processes import module
from sim_node.errors import RingError

SIZES = {"4kB": 4 << 10, "64kB": 64 << 10, "1MB": 1 << 20, "64MB": 64 << 20, "1GB": 1 << 30}
WAITS = {"spin": 1_000_000, "futex": 0}  # name → µs that a reader spins before it sleeps
READERS = (1, 8, 64)
SUFFIX = {"spin": "", "futex": "_futex"}  # of a ratio and a loop

Samples = defaultdict[str, list[int]]


def run(ticks: int = 360, rounds: int = 5, trips: int = 20_000) -> Measurement:
    """Measure wakes in µs for sizes, numbers of readers and ways of waiting, the loop, and the peers' same sizes.

    Rounds over all of them are pooled, so that what else the machine does for a while falls on all alike.
    """
    result = Measurement("bridge")
    ours: Samples = defaultdict(list)
    theirs: defaultdict[str, Samples] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder, _sources(result) as sources:
        reader = _native("c_reader", "bridge_reader.c", Path(folder), result)
        for _ in range(rounds):
            for size, source in sources.items():
                _one_size(size, source, reader, ticks, ours, theirs, result)
            _readers(sources["4kB"], ticks, ours)
        if controller := _native("cpp_controller", "bridge_controller.cpp", Path(folder), result):
            for wait, spin_us in WAITS.items():
                theirs["cpp_controller"][f"loop{SUFFIX[wait]}"] = round_trips(controller, trips, spin_us)
    result.figures.update({name: quantiles(samples) for name, samples in ours.items()})
    for peer, samples in theirs.items():
        result.peers.setdefault(peer, {name: quantiles(values) for name, values in samples.items()})
    result.peers["rclpy"] = bridge_peers.rclpy()
    result.ratios.update(ratios(result.figures, result.peers))
    return result


def ratios(figures: dict[str, Any], peers: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Divide the peers' medians by ours, and say how far from flat ours are over sizes and numbers of readers."""

    def p50(values: dict[str, Any], name: str) -> float | None:
        found: float | None = values.get(name, {}).get("p50_us")
        return found

    found: dict[str, float] = {}
    pairs = [("rclpy", "serialize", "vs_rclpy", "wake"), ("rclpy", "message", "vs_rclpy_message", "wake")]
    for size in SIZES:
        for wait, suffix in SUFFIX.items():
            for peer, theirs, name, ours in (
                *((peer, f"{kind}_{size}", name, ours) for peer, kind, name, ours in pairs),
                ("iceoryx2", f"call_{wait}_{size}", "vs_iceoryx2", "call"),
                ("shared_memory", f"call_{wait}_{size}", "vs_shared_memory", "call"),
            ):
                above, below = p50(peers.get(peer, {}), theirs), p50(figures, f"{ours}_{wait}_{size}")
                if above and below:
                    found[f"{name}_{size}{suffix}"] = round(above / below, 2)
    if same := [value for name, value in found.items() if name.startswith("vs_iceoryx2")]:
        found["vs_iceoryx2"] = min(same)
    for wait in WAITS:
        for over, names in (("sizes", list(SIZES)), ("readers", [f"{count}_readers" for count in READERS])):
            medians = [value for name in names if (value := p50(figures, f"wake_{wait}_{name}"))]
            if medians:
                middle = float(np.median(medians))
                found[f"flat_{over}_{wait}"] = round(max(max(value / middle, middle / value) for value in medians), 2)
    return found


def _one_size(
    size: str,
    source: Source,
    reader: list[str] | None,
    ticks: int,
    ours: Samples,
    theirs: dict[str, Samples],
    result: Measurement,
) -> None:
    for wait, spin_us in WAITS.items():
        ages = wake(source, module("bridge_reader"), spin_us, ticks)
        for kind in ("wake", "call"):
            ours[f"{kind}_{wait}_{size}"] += ages[kind]
        if reader is not None:
            theirs["c_reader"][f"wake_{wait}_{size}"] += wake(source, reader, spin_us, ticks)["wake"]
        measures = {"iceoryx2": partial(bridge_peers.iceoryx2, source.nbytes, wait == "futex", ticks)}
        if wait == "spin":  # it has no bell
            measures["shared_memory"] = partial(bridge_peers.shared_memory, source.nbytes, ticks)
        for peer, measure in measures.items():
            if peer in result.peers:
                continue  # absent
            try:
                theirs[peer][f"call_{wait}_{size}"] += measure()
            except bridge_peers.AbsentError as absent:
                result.peers[peer] = {"absent": str(absent)}


def _readers(source: Source, ticks: int, ours: Samples) -> None:
    """Measure one reader, and what a publish costs, while others wait by futex and take ticks at their own pace."""
    for count in READERS:
        with crowd(source, count - 1):
            for wait, spin_us in WAITS.items():
                ages = wake(source, module("bridge_reader"), spin_us, ticks)
                ours[f"wake_{wait}_{count}_readers"] += ages["wake"]
                ours[f"publish_{wait}_{count}_readers"] += ages["publish"]


@contextmanager
def _sources(result: Measurement) -> Iterator[dict[str, Source]]:
    """Make a ring for each size that this machine's memory holds; the others are named with the reason."""
    sources: dict[str, Source] = {}
    try:
        for size, nbytes in SIZES.items():
            try:
                sources[size] = Source(nbytes)
            except RingError as error:
                result.figures[f"wake_{size}"] = {"absent": str(error)}
        yield sources
    finally:
        for source in sources.values():
            source.publisher.close()


def _native(peer: str, source: str, folder: Path, result: Measurement) -> list[str] | None:
    """Compile the program of a peer; the command, or None where the peer is absent."""
    try:
        return [str(compiled(source, folder))]
    except (OSError, RuntimeError) as error:
        result.peers[peer] = absence(error)
        return None
