"""The demo's rig: the node in this process, controller and recorder each in their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclpy.parameter import Parameter

from sim_node.errors import SimNodeError
from sim_node.node.process import hosted, spinning

LOOK_S = 0.1
PLANT = "sim_node.kernels.quarter_car:QuarterCar"


@dataclass(frozen=True, slots=True)
class Run:
    """What a run left: the stepper's account, and what the controller measured."""

    ticks: int
    transport: str
    copies_per_tick: float
    misses: int
    lateness: Any
    delay: Any
    ages_ns: list[int]


# Told the ticks done, and the stepper's lateness (a Distribution) and misses so far.
Progress = Callable[[int, Any, int], None]


def run(bag: Path, ticks: int, rate: float, name: str, spin_us: float, progress: Progress) -> Run:
    """Run node, controller and recorder for a number of ticks, in order.

    Raises SimNodeError when one of them fails, with what it said.
    """
    settings = {"plant": PLANT, "rate": rate, "clock": "native", "spin_us": spin_us}
    overrides = [Parameter(key, value=value) for key, value in settings.items()]
    recording = [sys.executable, "-m", "sim_node.cli", "record", f"--node=/{name}", f"--bag={bag}", "--force"]
    with (
        _process("recorder", [*recording, "--json"], ready_on="stderr") as recorder,
        hosted(name=name, parameter_overrides=overrides) as node,
        spinning(node),
    ):
        node.rise("configure")
        controlling = [sys.executable, "-m", "sim_node.cli.rig.controller", name, str(spin_us)]
        with _process("controller", controlling, ready_on="stdout") as controller:
            node.rise("activate")
            print(file=controller.stdin, flush=True)
            assembly = node.assembly
            while assembly.stepper.step < ticks:
                progress(assembly.stepper.step, *_account(assembly.stepper))
                if node.fault is not None:
                    raise node.fault
                node.wait(LOOK_S)
            node.fall("deactivate")
            stepper = assembly.stepper
            lateness, misses = _account(stepper)
            made = stepper.step, assembly.publisher.transport, stepper.copies_per_tick, misses, lateness
            delay = stepper.statistics()["delay_ticks"]
            node.fall("cleanup")
            ages = json.loads(_finish(controller, "controller"))["ages_ns"]
        recorder.terminate()
        _finish(recorder, "recorder")
    return Run(*made, delay, ages)


def _account(stepper: Any) -> tuple[Any, int]:
    return stepper.statistics()["lateness"], stepper.counters()["misses"]


@contextmanager
def _process(what: str, command: list[str], ready_on: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process and wait for its first line; it does not outlive the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            if not getattr(process, ready_on).readline():
                raise SimNodeError(f"the {what} did not start: {process.communicate()[1].strip()}")
            yield process
        finally:
            process.kill()


def _finish(process: subprocess.Popen[str], what: str) -> str:
    """Wait for the end of a process and return the last line it printed."""
    output, errors = process.communicate(timeout=30.0)
    if process.returncode or not output.strip():
        raise SimNodeError(f"the {what} failed (exit code {process.returncode}): {errors.strip()}")
    return output.strip().splitlines()[-1]
