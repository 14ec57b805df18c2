"""Let quarter-cars of this process drive each other as fast as they come, and say what a tick of each costs.

``python scripts/coupled_ticks.py [TICKS]``; two plants of one rate, whose ticks go on at the same time.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import ExitStack

import sim_node as sn
from sim_node.bridge import Publisher
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.wires.conductor import conducting
from sim_node.wires.network import Coupling

PERIOD_NS = 1_000_000
LIMIT_NS = 60_000_000_000


class Car(QuarterCar):
    """A quarter-car whose inputs have no unit, so that anything may drive it."""

    force = sn.input(sn.float32, shape="corners")


def tick_ns(ticks: int, coupled: bool) -> float:
    """Measure real time from tick to tick, of a plant alone or of two that wait for each other."""
    names = [f"/coupled_{number}_{os.getpid()}" for number in (0, 1)]
    with ExitStack() as stack:
        steppers = []
        for name in names:
            car = Car()
            ring = stack.enter_context(Publisher(car.layout, car.input_layout, name=name))
            steppers.append(Stepper(car, dt_ns=PERIOD_NS, ring=ring.ring))
        if not coupled:
            began = time.monotonic_ns()
            steppers[0].run(PERIOD_NS, clock="free", ticks=ticks)
            return (time.monotonic_ns() - began) / ticks
        ways = (names, names[::-1])
        couplings = [Coupling("script", source, "body_velocity", target, "force") for source, target in ways]
        stack.enter_context(conducting(couplings, print, threading.Event()))
        run = {"clock": "lockstep", "limit_ns": LIMIT_NS, "miss": "stop", "ticks": ticks}
        threads = [threading.Thread(target=each.run, args=(PERIOD_NS,), kwargs=run) for each in steppers]
        began = time.monotonic_ns()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (time.monotonic_ns() - began) / ticks


def main(ticks: int = 10_000) -> int:
    """Measure and print."""
    alone, coupled = tick_ns(ticks, False), tick_ns(ticks, True)
    print(f"{ticks} ticks: {alone / 1e3:.1f} us each of a plant alone, {coupled / 1e3:.1f} us of two that are coupled")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
