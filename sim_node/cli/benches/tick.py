"""How punctual a tick is at 1 kHz: the native clock, sleeping or spinning, beside an rclpy timer and a loop in C."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.cli.benches import tick_costs
from sim_node.cli.benches.measurement import Measurement, quantiles
from sim_node.cli.benches.native import compiled
from sim_node.device.names import Device
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.plant.statistics import Distribution

PERIOD_NS = 1_000_000
SPIN_NS = 200_000
FAST_NS = 100_000
ROUNDS = 20


def run(ticks: int = 5000) -> Measurement:
    """Measure lateness and step time in µs of the quarter-car under each clock, in rounds in which they take turns.

    A ratio is the median of those of the rounds: two clocks are compared within the seconds that they share.
    """
    result = Measurement("tick")
    ours: dict[str, Ticked] = {name: Ticked(clock) for name, clock in CLOCKS.items()}
    peers: dict[str, Ticked | Bare] = {"sleep_loop": Ticked(_sleep_loop)}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as made:
        makers: dict[str, Callable[[], Ticked | Bare]] = {
            "c_nanosleep": partial(Bare, Path(folder)),
            "rclpy_timer": partial(_timed, made),
        }
        for name, make in makers.items():
            try:
                peers[name] = make()
            except (ImportError, FileNotFoundError, RuntimeError) as absent:
                result.peers[name] = {"absent": f"{absent}; see 'sim-node doctor'"}
        rounds = min(ROUNDS, ticks)
        for each in range(rounds):
            for clock in (*ours.values(), *peers.values()):
                clock.tick(ticks * (each + 1) // rounds - ticks * each // rounds)
    result.figures = {name: clock.figures() for name, clock in ours.items()}
    result.figures["native_10_khz"] = _sustained(10 * ticks)
    result.figures |= tick_costs.measure()
    result.peers |= {name: peer.figures() for name, peer in peers.items()}
    for name, peer in peers.items():
        for key in ("p50", "p99"):
            ratios = [theirs / mine for theirs, mine in zip(peer.late[key], ours["native"].late[key], strict=True)]
            result.ratios[f"{name}_{key}_vs_native"] = round(float(np.median(ratios)), 2)
    if bare := peers.get("c_nanosleep"):
        ratios = [mine / theirs for theirs, mine in zip(bare.late["p99"], ours["native"].late["p99"], strict=True)]
        result.ratios["native_p99_vs_c"] = round(float(np.median(ratios)), 2)
    return result


class Ticked:
    """The quarter-car under a clock. Attributes: ``late``, for each round p50 and p99 of the lateness in ns."""

    def __init__(self, clock: Callable[[Stepper, int], object]) -> None:
        self.stepper = Stepper(QuarterCar(), dt_ns=PERIOD_NS)
        self._clock = clock
        self.late: dict[str, list[float]] = {"p50": [], "p99": []}

    def tick(self, ticks: int) -> None:
        """Do a round."""
        self.stepper.reset_statistics()
        self._clock(self.stepper, ticks)
        late = self.stepper.statistics("reset")["lateness"]
        self.late["p50"].append(late.p50)
        self.late["p99"].append(late.p99)

    def figures(self) -> dict[str, Any]:
        """Tell of all rounds."""
        return figures_of(self.stepper)


class Bare:
    """A loop in C that does nothing else, which no clock that sleeps can undercut; attributes as of ``Ticked``.

    Raises FileNotFoundError or RuntimeError where it cannot be compiled.
    """

    def __init__(self, folder: Path) -> None:
        self._program = compiled("tick_nanosleep.c", folder)
        self._all: list[int] = []
        self.late: dict[str, list[float]] = {"p50": [], "p99": []}

    def tick(self, ticks: int) -> None:
        """Do a round, in a process of its own."""
        command = [str(self._program), str(PERIOD_NS), str(ticks)]
        late = list(map(int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()))
        self.late["p50"].append(float(np.percentile(late, 50)))
        self.late["p99"].append(float(np.percentile(late, 99)))
        self._all += late

    def figures(self) -> dict[str, Any]:
        """Tell of all rounds."""
        misses = sum(ns > PERIOD_NS for ns in self._all)
        return {"ticks": len(self._all), "misses": misses, "lateness": quantiles(self._all)}


def _sustained(ticks: int) -> dict[str, Any]:
    """Run the native clock at 10 kHz with a spin tail: how many percent of the instants had their tick in time."""
    stepper = Stepper(QuarterCar(), dt_ns=FAST_NS)
    stepper.run(FAST_NS, spin_ns=FAST_NS // 2, ticks=ticks)
    counters = stepper.counters()
    instants = counters["ticks"] + counters["skipped"]
    in_time = 100 * (counters["ticks"] - counters["misses"]) / instants
    return {**figures_of(stepper), "skipped": counters["skipped"], "in_time_percent": round(in_time, 3)}


def account(clock: Callable[[Stepper, int], object], ticks: int, device: Device | None = None) -> dict[str, Any]:
    """Tick the quarter-car under a clock: ticks, misses, lateness and step time."""
    stepper = Stepper(QuarterCar(), dt_ns=PERIOD_NS, device=device)
    clock(stepper, ticks)
    return figures_of(stepper)


def figures_of(stepper: Stepper) -> dict[str, Any]:
    """Tell ticks, misses, lateness and step time."""
    statistics, counters = stepper.statistics(), stepper.counters()
    return {
        "ticks": counters["ticks"],
        "misses": counters["misses"],
        "lateness": _figures(statistics["lateness"]),
        "step_time": _figures(statistics["step_time"]),
    }


def _figures(values: Distribution) -> dict[str, Any]:
    """Percentiles in µs and the histogram itself: the lower edge (ns) and count of each bucket that holds something."""
    return {
        "p50_us": values.p50 / 1e3,
        "p99_us": values.p99 / 1e3,
        "p999_us": values.p999 / 1e3,
        "max_us": values.max / 1e3,
        "histogram_ns": [[int(edge), int(count)] for edge, count in zip(*values.filled)],
    }


def _native(stepper: Stepper, ticks: int) -> None:
    stepper.run(PERIOD_NS, ticks=ticks)


def _native_spin(stepper: Stepper, ticks: int) -> None:
    stepper.run(PERIOD_NS, spin_ns=SPIN_NS, ticks=ticks)


def _beside_busy_python(stepper: Stepper, ticks: int) -> None:
    """Run the native clock while another thread of this process never lets go of the interpreter."""
    ended = threading.Event()

    def compute() -> None:
        while not ended.is_set():
            sum(range(1000))

    busy = threading.Thread(target=compute)
    busy.start()
    try:
        stepper.run(PERIOD_NS, ticks=ticks)
    finally:
        ended.set()
        busy.join()


CLOCKS = {"native": _native, "native_spin": _native_spin, "native_gil_busy": _beside_busy_python}


def _sleep_loop(stepper: Stepper, ticks: int) -> None:
    """Tick from a plain Python loop that sleeps until each tick is due."""
    due = time.monotonic_ns()
    for _ in range(ticks):
        due += PERIOD_NS
        time.sleep(max(due - time.monotonic_ns(), 0) * 1e-9)
        stepper.tick(1, due)


def _timed(made: ExitStack) -> Ticked:
    """Make the clock that a timer of an rclpy node is, with a single-threaded executor. Raises ImportError."""
    import rclpy
    from rclpy.clock import Clock, ClockType

    context = rclpy.Context()
    rclpy.init(context=context)
    made.callback(rclpy.shutdown, context=context)
    node = rclpy.create_node("bench_tick", context=context)
    made.callback(node.destroy_node)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def clock(stepper: Stepper, ticks: int) -> None:
        def tick() -> None:
            due = time.monotonic_ns() + timer.time_until_next_call() - PERIOD_NS
            stepper.tick(1, due)

        last = stepper.step + ticks
        timer = node.create_timer(PERIOD_NS * 1e-9, tick, clock=Clock(clock_type=ClockType.STEADY_TIME))
        while stepper.step < last:
            executor.spin_once(timeout_sec=1.0)
        node.destroy_timer(timer)

    return Ticked(clock)
