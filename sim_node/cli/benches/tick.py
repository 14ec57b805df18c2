"""How punctual a tick is at 1 kHz: the native clock, sleeping or spinning, beside an rclpy timer and a loop in C."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sim_node.cli.benches import tick_costs
from sim_node.cli.benches.measurement import Measurement, quantiles
from sim_node.cli.benches.native import compiled
from sim_node.device.names import Device
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.plant.statistics import Distribution

PERIOD_NS = 1_000_000
SPIN_NS = 200_000


def run(ticks: int = 5000) -> Measurement:
    """Measure lateness and step time in µs of the quarter-car under each clock, one after the other."""
    result = Measurement("tick")
    for name, clock in CLOCKS.items():
        result.figures[name] = account(clock, ticks)
    result.figures |= tick_costs.measure()
    result.peers["c_nanosleep"] = _nanosleep(ticks)
    result.peers["sleep_loop"] = account(_sleep_loop, ticks)
    try:
        result.peers["rclpy_timer"] = account(_rclpy_timer, ticks)
    except ImportError as absent:
        result.peers["rclpy_timer"] = {"absent": f"{absent}; see 'sim-node doctor'"}
    ours = result.figures["native"]["lateness"]
    for peer, figures in result.peers.items():
        if "lateness" in figures:
            for key in ("p50", "p99"):
                theirs = figures["lateness"][f"{key}_us"]
                result.ratios[f"{peer}_{key}_vs_native"] = round(theirs / ours[f"{key}_us"], 2)
    bare = result.peers["c_nanosleep"]
    if "lateness" in bare:
        result.ratios["native_p99_vs_c"] = round(ours["p99_us"] / bare["lateness"]["p99_us"], 2)
    return result


def _nanosleep(ticks: int) -> dict[str, Any]:
    """Measure a bare loop in C, which no clock that sleeps can undercut."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = compiled("tick_nanosleep.c", Path(folder))
        except (FileNotFoundError, RuntimeError) as absent:
            return {"absent": str(absent)}
        done = subprocess.run([program, str(PERIOD_NS), str(ticks)], capture_output=True, text=True, check=True)
    late = list(map(int, done.stdout.split()))
    return {"ticks": len(late), "misses": sum(ns > PERIOD_NS for ns in late), "lateness": quantiles(late)}


def account(clock: Callable[[Stepper, int], object], ticks: int, device: Device | None = None) -> dict[str, Any]:
    """Tick the quarter-car under a clock: ticks, misses, lateness and step time."""
    stepper = Stepper(QuarterCar(), dt_ns=PERIOD_NS, device=device)
    clock(stepper, ticks)
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


def _rclpy_timer(stepper: Stepper, ticks: int) -> None:
    """Tick from a timer of an rclpy node in a single-threaded executor."""
    import rclpy
    from rclpy.clock import Clock, ClockType

    context = rclpy.Context()
    rclpy.init(context=context)
    try:
        node = rclpy.create_node("bench_tick", context=context)
        executor = rclpy.executors.SingleThreadedExecutor(context=context)
        executor.add_node(node)

        def tick() -> None:
            due = time.monotonic_ns() + timer.time_until_next_call() - PERIOD_NS
            stepper.tick(1, due)

        timer = node.create_timer(PERIOD_NS * 1e-9, tick, clock=Clock(clock_type=ClockType.STEADY_TIME))
        while stepper.step < ticks:
            executor.spin_once(timeout_sec=1.0)
        node.destroy_node()
    finally:
        rclpy.shutdown(context=context)
