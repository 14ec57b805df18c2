"""Rigs that end with their test, and the car's controller as a function and as a process."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import pytest

from sim_node.kernels.quarter_car import QuarterCar
from sim_node.testing.options import Options
from sim_node.testing.rig import Rig

DAMPER = -3000.0

PROCESS = f"""
import sys
from sim_node.bridge import Subscriber
print("here", flush=True)
with Subscriber(sys.argv[1]) as ring:
    while True:
        with ring.next(timeout=20.0) as tick:
            force = {DAMPER} * tick["body_velocity"]
            if len(sys.argv) > 2 and tick.step >= int(sys.argv[2]):
                sys.exit("that is enough")
        ring.send("force", force)
"""


@pytest.fixture
def make(tmp_path):
    """Make a rig of the car, driven fast: make(**options)."""
    with ExitStack() as made:

        def rig(plant=QuarterCar, file="bag.mcap", **options):
            if plant is QuarterCar:
                options = {"parameters": {"speed": 20.0, "lead": 1.0}, **options}
            return made.enter_context(Rig(Options.of(plant, options), tmp_path / file))

        yield rig


@pytest.fixture
def damper():
    return lambda t: {"force": DAMPER * t["body_velocity"]}


@pytest.fixture
def process():
    return [sys.executable, "-c", PROCESS, "{ring}"]
