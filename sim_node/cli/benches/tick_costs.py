"""What a tick of the native clock takes of the process: allocations, and Python's interpreter lock.

Run as a program, it counts in its own process, which has count_allocations.c before glibc.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from sim_node.cli.benches.native import compiled
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper

PERIOD_NS = 1_000_000
HOLD_US = 200_000  # that the interpreter lock is held for


def measure() -> dict[str, Any]:
    """Count in a process of its own; without a compiler, or glibc, say why not."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            library = compiled("count_allocations.c", Path(folder), "-shared", "-fPIC")
            command = [sys.executable, "-m", "sim_node.cli.benches.tick_costs", str(library)]
            names = {**os.environ, "LD_PRELOAD": str(library)}
            done = subprocess.run(command, env=names, capture_output=True, text=True, check=True, timeout=120)
            return dict(json.loads(done.stdout))
        except (OSError, RuntimeError, subprocess.SubprocessError) as fault:
            return {"costs_absent": str(getattr(fault, "stderr", "") or fault)}


def allocations_per_tick(counted: Any, ticks: int = 500) -> float:
    """Count by the difference of two runs, so that what the calls themselves allocate is in neither."""
    stepper, spent = Stepper(QuarterCar(), dt_ns=PERIOD_NS), []
    for count in (1, ticks, 2 * ticks):
        before = counted()
        stepper.run(PERIOD_NS, clock="free", ticks=count)
        spent.append(counted() - before)
    return float(spent[2] - spent[1]) / ticks


def ticks_beside_a_held_lock() -> int:
    """Count the ticks of the native clock that are done while this thread keeps the interpreter lock throughout."""
    stepper = Stepper(QuarterCar(), dt_ns=PERIOD_NS)
    thread = threading.Thread(target=stepper.run, args=(PERIOD_NS,))
    thread.start()
    while stepper.step < 10:
        pass
    before = stepper.step
    ctypes.PyDLL(None).usleep(HOLD_US)  # a PyDLL's functions are called with the lock
    done = stepper.step - before
    stepper.stop()
    thread.join()
    return done


def main(library: str) -> None:
    """Print the figures as JSON: a tick that needed the lock could not be done while another thread has it."""
    counted = ctypes.CDLL(library).sn_allocations
    counted.restype = ctypes.c_uint64
    beside = ticks_beside_a_held_lock()
    print(
        json.dumps(
            {
                "allocations_per_tick": allocations_per_tick(counted),
                "gil_acquisitions_per_tick": 0.0 if beside > 2 else 1.0,
                "ticks_beside_a_held_gil": beside,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
