"""Let the native clock tick the quarter-car for a minute at 1 kHz and say how far from its instant the last tick ended.

``python scripts/clock_drift.py [SECONDS] [RATE]``; exit code 1 when that is more than one period.
"""

from __future__ import annotations

import sys
import time

from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper

NS = 1_000_000_000


def main(seconds: float = 60.0, rate: float = 1000.0) -> int:
    """Tick, and compare the time that it took with the time that it had to."""
    period_ns, ticks = round(NS / rate), round(seconds * rate)
    stepper = Stepper(QuarterCar(), dt_ns=period_ns)
    began = time.monotonic_ns()
    stepper.run(period_ns, overrun="catch_up", catch_up=ticks, ticks=ticks)
    off = time.monotonic_ns() - began - ticks * period_ns
    lateness, counters = stepper.statistics()["lateness"], stepper.counters()
    print(
        f"{ticks} ticks of {period_ns} ns ended {off} ns after their time; lateness p50 {lateness.p50} ns, "
        f"p99 {lateness.p99} ns, max {lateness.max} ns; {counters['misses']} missed, {counters['skipped']} left out"
    )
    return int(abs(off) > period_ns)


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
