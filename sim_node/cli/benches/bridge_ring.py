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
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.layout import Layout
from sim_node.plant import Stepper

DT_NS = 1_000_000
LIMIT_NS = 5_000_000_000  # for a command; the machine may be busy


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


def round_trips(controller: Sequence[str], ticks: int, spin_us: int) -> list[int]:
    """Tick a compiled plant in lockstep with a controller in another process; ns from each commit to the next.

    Both spin so long before they sleep. Raises PlantError when a command does not come.
    """
    car, name = QuarterCar(), f"bench.{os.getpid()}.loop"
    with Publisher(car.layout, car.input_layout, name) as publisher:
        stepper = Stepper(car, dt_ns=DT_NS, ring=publisher.ring)
        with started([*controller, name, str(spin_us)]) as child:
            until_ready(child)
            pace = {"clock": "lockstep", "inputs": ["force"], "limit_ns": LIMIT_NS, "miss": "stop"}
            stepper.run(DT_NS, ticks=ticks, spin_ns=1000 * spin_us, **pace)
            publisher.close()
            cycles: list[int] = answer(child)["cycles"]
    return cycles
