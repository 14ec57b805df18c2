"""Runs a ring at 1 kHz for minutes and kills its processes: what readers see is whole, goes on, and leaves nothing.

`python scripts/soak.py --minutes 10 --save docs/measurements` steps a plant whose kernel adds 1 to every element, so
that all of them are the number of the tick. Eight readers look at each: two stay all the time, of the other six two are
killed each second (kill -9) and replaced; the producer is killed each minute and started again. The exit code is 1 if a
slot was torn, a reader stood still, or something was left. What a restart costs readers (``largest_restart_gap_ms``) is
the start of a process that imports the package, and a search each 10 ms; ``largest_start_ms`` is the first of these.
"""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

from __future__ import annotations

import argparse
import json
import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.bridge import Publisher, RingInfo, Subscriber, rings
from sim_node.bridge.transports import posix_shm
from sim_node.cli.benches.measurement import Measurement
from sim_node.plant import Plant, Stepper
from sim_node.plant.recording import Recording

PERIOD_NS = 1_000_000
COUNT = 4096  # elements
READERS, STAY, KILLED = 8, 2, 2
PATIENCE_S = 20.0  # a reader that saw no tick for so long stands still; a producer starts in less
ROOM_KIB = 4096  # a process may grow by so much and is not taken for a leak
# what a reader counts, in memory that outlives it
SEEN_NS, STEP, TAKEN, TORN, SKIPPED, LOST, GAP_NS, RESTART_NS, SWITCHES = range(9)


@sn.kernel
def count_on(number: sn.array(dtype=sn.int64), following: sn.array(dtype=sn.int64)):
    """Add 1 to each element."""
    i = sn.tid()
    following[i] = number[i] + 1


class Counter(Plant):
    """All elements of its state are the number of the tick."""

    number = sn.state(sn.int64, shape=COUNT, publish=True)

    def build(self, plan: Recording, dt: float) -> None:  # noqa: ARG002
        """Launch the one kernel."""
        plan.launch(count_on, dim=COUNT, inputs=[self.number], outputs=[self.number.next])


def produce(name: str) -> None:
    """Tick until killed, or told to end by SIGTERM."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    plant = Counter()
    with Publisher(plant.layout, plant.input_layout, name) as publisher:
        stepper = Stepper(plant, dt_ns=PERIOD_NS, ring=publisher.ring)
        ticking = threading.Thread(target=stepper.run, args=(PERIOD_NS,))  # this thread is to hear of the signal
        ticking.start()
        print("ready", flush=True)
        signal.sigwait({signal.SIGTERM})
        stepper.stop()
        ticking.join()


def read(name: str, place: int, counts: np.ndarray[Any, Any]) -> None:
    """Take ticks for ever, each seventh for 2 ms, and count what was wrong with them."""
    with Subscriber(name, timeout=PATIENCE_S) as subscriber:
        last, generation = time.monotonic_ns(), subscriber.generation
        while True:
            with subscriber.next(timeout=PATIENCE_S) as tick:
                now, number = time.monotonic_ns(), tick["number"]
                kind = GAP_NS if subscriber.generation == generation else RESTART_NS
                counts[kind] = max(counts[kind], now - last)
                counts[SWITCHES] += subscriber.generation != generation
                generation = subscriber.generation
                torn = (number != tick.step).any()
                if tick.step % 7 == place % 7:
                    time.sleep(0.002)
                    torn |= (number != tick.step).any()  # under its lease a slot never changes
                counts[TORN] += torn
                counts[STEP] = tick.step
                counts[TAKEN] += 1
                counts[SKIPPED] += tick.skipped
            counts[LOST] = subscriber.statistics()["lost"]
            last = counts[SEEN_NS] = time.monotonic_ns()


class Soak:
    """The processes, and what they left behind them."""

    def __init__(self, name: str, random: Random) -> None:
        self.name, self.random = name, random
        memory = mmap.mmap(-1, READERS * 16 * 8)  # shared with the children
        self.counts = np.frombuffer(memory, np.int64).reshape(READERS, 16)
        self.readers: dict[int, int] = {}  # place → pid
        self.killed_readers = self.killed_producers = self.stood_still = self.ticks = 0
        self.longest_start_ns = 0  # of a producer that was killed, from its end to the next one's first tick
        self.producer = self._produce()
        for place in range(READERS):
            self._read(place)

    def _produce(self) -> subprocess.Popen[str]:
        command = [sys.executable, __file__, "--produce", self.name]
        producer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert producer.stdout is not None
        if producer.stdout.readline().strip() != "ready":
            raise RuntimeError("the producer ended before it was ready; its error stands above")
        return producer

    def _read(self, place: int) -> None:
        self.counts[place, SEEN_NS] = time.monotonic_ns()
        pid = os.fork()
        if pid == 0:
            try:
                read(self.name, place, self.counts[place])
            finally:
                os._exit(1)
        self.readers[place] = pid

    def kill_readers(self) -> None:
        """Kill two of those that do not stay, and start others in their places."""
        for place in self.random.sample(range(STAY, READERS), KILLED):
            self._end(place)
            self.killed_readers += 1
            self._read(place)

    def kill_producer(self) -> None:
        """Kill the producer, and start the next."""
        self._count_ticks()
        begin = time.monotonic_ns()
        self.producer.kill()
        with self.producer:
            pass
        self.killed_producers += 1
        self.producer = self._produce()
        self.longest_start_ns = max(self.longest_start_ns, time.monotonic_ns() - begin)

    def look(self) -> None:
        """Replace the readers that stand still, or have ended."""
        for place, pid in list(self.readers.items()):
            ended = os.waitpid(pid, os.WNOHANG)[0] == pid
            if ended or time.monotonic_ns() - self.counts[place, SEEN_NS] > 1.5e9 * PATIENCE_S:
                self.stood_still += 1
                if not ended:
                    self._end(place)
                self._read(place)

    def close(self) -> None:
        """End all, the producer in order."""
        self._count_ticks()
        for place in self.readers:
            self._end(place)
        self.producer.terminate()
        try:
            self.producer.communicate(timeout=PATIENCE_S)
        finally:
            self.producer.kill()

    def _count_ticks(self) -> None:
        self.ticks += int(self.counts[:, STEP].max())
        self.counts[:, STEP] = 0

    def _end(self, place: int) -> None:
        os.kill(self.readers[place], signal.SIGKILL)
        os.waitpid(self.readers[place], 0)


def held(pid: int, name: str) -> dict[str, int]:
    """Count what a process holds: KiB of memory of its own, descriptors, and segments of that name mapped."""
    folder = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    mapped = sum(f".{name}" in line for line in (folder / "maps").read_text().splitlines())
    own, descriptors = int(status["RssAnon"].split()[0]), len(list((folder / "fd").iterdir()))
    return {"kib": own, "descriptors": descriptors, "maps": mapped}


def soak(minutes: float, second: float = 1.0, minute: float = 60.0, seed: int = 1) -> dict[str, Any]:
    """Run for so long, killing readers each ``second`` and the producer each ``minute``; returns the figures."""
    name = f"soak.{os.getpid()}"
    before = _left(name)
    running = Soak(name, Random(seed))
    begin = time.monotonic()
    end, second_at, minute_at = begin + 60 * minutes, begin + second, begin + minute
    first: list[dict[str, int]] = []
    try:
        while (now := time.monotonic()) < end:
            if now >= minute_at:
                minute_at += minute
                running.kill_producer()
            if now >= second_at:
                second_at += second
                running.look()
                running.kill_readers()
            if not first and now >= begin + 1.5 * minute:
                first = _holdings(running, name)  # each has met a second generation: what is made once is made
            time.sleep(max(0.0, min(second_at, minute_at, end) - time.monotonic()))
        found = _settled(lambda: next((ring for ring in rings() if ring.name == name), None))
        last = _holdings(running, name)
    finally:
        running.close()
    grown = [{key: there[key] - here[key] for key in here} for here, there in zip(first or last, last)]
    counts = running.counts
    return {
        "minutes": round((time.monotonic() - begin) / 60, 2),
        "ticks": running.ticks,
        "taken": int(counts[:, TAKEN].sum()),
        "skipped": int(counts[:, SKIPPED].sum()),
        "lost": int(counts[:, LOST].sum()),
        "killed_readers": running.killed_readers,
        "killed_producers": running.killed_producers,
        "followed": int(counts[:STAY, SWITCHES].sum()),
        "torn": int(counts[:, TORN].sum()),
        "stood_still": running.stood_still,
        "largest_gap_ms": round(float(counts[:, GAP_NS].max()) / 1e6, 2),
        "largest_restart_gap_ms": round(float(counts[:, RESTART_NS].max()) / 1e6, 1),
        "largest_start_ms": round(running.longest_start_ns / 1e6, 1),
        "entries_left": found,
        "grown_kib": max(grown_by["kib"] for grown_by in grown),
        "left": {
            "segments": _left(name) - before,
            "descriptors": sum(max(grown_by["descriptors"], 0) for grown_by in grown),
            "maps": sum(max(grown_by["maps"], 0) for grown_by in grown),
        },
    }


def _settled(look: Callable[[], RingInfo | None]) -> int:
    """Wait until the ring's table holds no more readers than there are; returns how many it holds beyond them."""
    for _ in range(100):
        ring = look()
        if ring is not None and len(ring.readers) <= READERS:
            return 0
        time.sleep(0.1)  # the producer looks at one entry each 0.1 s
    return len(ring.readers) - READERS if ring is not None else -1


def _holdings(running: Soak, name: str) -> list[dict[str, int]]:
    """Ask those that live from the beginning to the end: this process and the readers that stay."""
    return [held(pid, name) for pid in (os.getpid(), *(running.readers[place] for place in range(STAY)))]


def _left(name: str) -> int:
    return len(list(posix_shm.FOLDER.glob(f"*{name}*")))


def good(figures: dict[str, Any]) -> bool:
    """Say whether nothing was torn, stood still or was left."""
    wrong = (figures["torn"], figures["stood_still"], figures["entries_left"], *figures["left"].values())
    return not any(wrong) and figures["grown_kib"] <= ROOM_KIB and figures["taken"] > 0


def main() -> int:
    """Run as the words say; returns the exit code."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--minutes", type=float, default=10.0)
    words.add_argument("--seed", type=int, default=1, help="chooses who is killed")
    words.add_argument("--save", type=Path, help="also write the figures to this folder, as soak.json")
    words.add_argument("--produce", metavar="NAME", help=argparse.SUPPRESS)
    given = words.parse_args()
    if given.produce:
        produce(given.produce)
        return 0
    figures = soak(given.minutes, seed=given.seed)
    text = json.dumps(Measurement("soak", figures).as_json(), indent=1)
    print(text)
    if given.save:
        (given.save / "soak.json").write_text(text + "\n", "utf-8")
    return 0 if good(figures) else 1


if __name__ == "__main__":
    sys.exit(main())
