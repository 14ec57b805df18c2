"""The demo's rig: the node in this process, controller and recorder each in their own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from sim_node.errors import SimNodeError
from sim_node.plant.statistics import Distribution
from sim_node.stop import stop_requested

if TYPE_CHECKING:
    from sim_node.node.node import PlantNode

DISCOVERY_S = 20.0
PLANT = "sim_node.kernels.quarter_car:QuarterCar"


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left: the stepper's account, and what the controller measured."""

    ticks: int
    transport: str
    copies_per_tick: float
    misses: int
    lateness: Distribution
    step_time: Distribution
    delay: Distribution
    ages_ns: list[int]


# Told the ticks done, the lateness so far and the misses.
Progress = Callable[[int, Distribution, int], None]


def run(bag: Path, ticks: int, rate: float, name: str, spin_us: float, progress: Progress) -> Run:
    """Run node, controller and recorder for a number of ticks, in order.

    Raises SimNodeError when one of them fails, with what it said; KeyboardInterrupt after SIGINT or SIGTERM, when all
    have ended in order, since none may break into a transition.
    """
    with stop_requested() as stop:
        try:
            return _close_the_loop(bag, ticks, rate, name, spin_us, progress, stop)
        except SimNodeError:
            _go_on(stop)  # Ctrl-C reaches all processes of a terminal, and whichever ends first is missed by another
            raise


def _close_the_loop(
    bag: Path, ticks: int, rate: float, name: str, spin_us: float, progress: Progress, stop: Event
) -> Run:
    from rclpy.parameter import Parameter

    from sim_node.node.process import hosted, spin_until

    settings = {"plant": PLANT, "rate": rate, "clock": "native", "spin_us": spin_us}
    overrides = [Parameter(key, value=value) for key, value in settings.items()]
    quiet = ["--ros-args", "--log-level", f"{name}:=error"]  # the table tells what the log would, between the lines
    recording = ["sim_node.cli", "record", f"--node=/{name}", f"--bag={bag}", "--force", "--json"]
    controlling = ["sim_node.cli.rig.controller", name, str(spin_us)]
    with _process(recording) as recorder, hosted(quiet, name=name, parameter_overrides=overrides) as node:
        _line(recorder, "stderr", "recorder")
        node.make("configure")
        with _process(controlling) as controller:
            _line(controller, "stdout", "controller")
            _wait_for_recorder(node, stop)
            node.make("activate")
            print(file=controller.stdin, flush=True)
            stepper = node.assembly.stepper

            def done() -> bool:
                _go_on(stop)
                progress(stepper.step, stepper.statistics()["lateness"], stepper.counters()["misses"])
                return stepper.step >= ticks or node.state != "active"

            spin_until(node, done)
            if node.state != "active":
                raise node.fault or SimNodeError("the node left its active state")
            node.make("deactivate")
            account, counters = stepper.statistics(), stepper.counters()
            made, transport, copies = stepper.step, node.assembly.publisher.transport, stepper.copies_per_tick
            node.make("cleanup")
            measured = json.loads(_finish(controller, "controller"))
        recorder.terminate()
        _finish(recorder, "recorder")
    return Run(
        made, transport, copies, counters["misses"], account["lateness"], account["step_time"], account["delay_ticks"],
        measured["ages_ns"],
    )  # fmt: skip


def _go_on(stop: Event) -> None:
    if stop.is_set():
        raise KeyboardInterrupt


def _wait_for_recorder(node: PlantNode, stop: Event) -> None:
    """Discovery takes its time, and what is published before it is over may be lost."""
    from sim_node.node.process import spin_until

    limit = time.monotonic() + DISCOVERY_S
    spin_until(node, lambda: node.recorders > 0 or stop.is_set() or time.monotonic() > limit)
    _go_on(stop)
    if not node.recorders:
        raise SimNodeError(
            f"node and recorder did not find each other within {DISCOVERY_S:g} s; does the middleware's discovery work "
            "on this host (ROS_DOMAIN_ID, ROS_AUTOMATIC_DISCOVERY_RANGE, firewall)?"
        )


@contextmanager
def _process(arguments: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run a module of ours as a process that does not outlive the block; left early, it may end in order."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=10.0)
                process.kill()


def _line(process: subprocess.Popen[str], stream: str, what: str) -> None:
    """Wait for the line by which a process says that it is ready."""
    if not getattr(process, stream).readline():
        raise SimNodeError(f"the {what} did not start: {process.communicate()[1].strip()}")


def _finish(process: subprocess.Popen[str], what: str) -> str:
    """Wait for the end of a process and return the last line it printed."""
    output, errors = process.communicate(timeout=30.0)
    if process.returncode or not output.strip():
        said = "\n".join(part for part in (output.strip(), errors.strip()) if part)
        raise SimNodeError(f"the {what} failed (exit code {process.returncode}): {said}")
    return output.strip().splitlines()[-1]
