"""Our side of the bridge bench: a ring of one field, ticks at 1 kHz into it, and a loop in lockstep."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.cli.benches.pace import paced
from sim_node.cli.benches.processes import answer, module, started, until_ready
from sim_node.layout import Layout

POLLS = 100_000  # between looks whether the controller still lives


class Source:
    """A ring whose slots hold ``nbytes`` of state, and the number of its newest tick."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes, self.step = nbytes, 0
        layout = Layout.of([("state", dtypes.float32, (nbytes // 4,), "")])
        self.publisher = Publisher(layout, name=f"bench.{os.getpid()}.{nbytes}")

    def publish(self, ticks: int) -> list[int]:
        """Publish so many ticks at 1 kHz; returns what each commit cost, ns. A state's first 8 bytes hold its time."""
        costs = []
        for _ in paced(ticks):
            self.step += 1
            with self.publisher.next() as slot:
                stamp = slot["state"][:2].view(np.int64)
                begin = stamp[0] = time.monotonic_ns()
                slot.commit(step=self.step, stamp_ns=self.step)
                costs.append(time.monotonic_ns() - begin)
        return costs


def wake(source: Source, reader: Sequence[str], spin_us: int, ticks: int) -> dict[str, list[int]]:
    """Publish to a process that waits for each tick; returns ``wake`` and ``call``, its ages, and ``publish``, ns."""
    words = (source.publisher.name, str(spin_us), str(source.step + ticks))
    with started([*reader, *words]) as child:
        until_ready(child)
        costs = source.publish(ticks)
        ages: dict[str, Any] = answer(child)
        return {**ages, "publish": costs}


@contextmanager
def crowd(source: Source, count: int) -> Iterator[None]:
    """Have so many other processes read the ring, each at its own pace."""
    if count == 0:
        yield
        return
    with started(module("bridge_crowd", source.publisher.name, count)) as child:
        until_ready(child)
        yield
        child.communicate()


def round_trips(controller: Sequence[str], ticks: int, pace: bool) -> list[int]:
    """Tick in lockstep with a controller in another process, or at 1 kHz; returns ns from commit to command in hand."""
    layout = Layout.of([("velocity", dtypes.float32, (4,), "m/s")])
    inputs = Layout.of([("force", dtypes.float32, (4,), "N")])
    trips, force = [], np.zeros(4, np.float32)
    with Publisher(layout, inputs, f"bench.{os.getpid()}.loop") as publisher:
        take = publisher.ring.take
        with started([*controller, publisher.name]) as child:
            until_ready(child)
            for step in paced(ticks) if pace else range(1, ticks + 1):
                with publisher.next() as slot:
                    slot["velocity"][:] = step
                    begin = time.monotonic_ns()
                    slot.commit(step=step, stamp_ns=step)
                polls = 0
                while not isinstance(take(0, force.data), tuple):
                    polls += 1
                    if polls % POLLS == 0 and child.poll() is not None:
                        raise RuntimeError("the controller of the bench has ended; its error stands above")
                trips.append(time.monotonic_ns() - begin)
                assert force[0] == -500.0 * step, "the command answers another tick"
            publisher.close()
            child.communicate()
    return trips
