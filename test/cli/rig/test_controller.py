"""The demo's controller in a process of its own: it answers each tick with the skyhook's force."""

import json
import os
import subprocess
import sys
import time

import numpy as np

from sim_node.bridge import Publisher
from sim_node.cli.rig.controller import SKYHOOK
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper


def test_closes_the_loop():
    car = QuarterCar(speed=20.0, lead=0.0)
    with Publisher(car.layout, car.input_layout, f"controller.{os.getpid()}") as publisher:
        stepper = Stepper(car, dt_ns=1_000_000, ring=publisher.ring)
        command = [sys.executable, "-m", "sim_node.cli.rig.controller", publisher.name, "0"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as controller:
            try:
                assert controller.stdout.readline() == "ready\n"
                stepper.tick(50)
                velocity = stepper.get("body_velocity")
                assert velocity.any()
                print(file=controller.stdin, flush=True)
                force, answered = _command(publisher)
                assert answered == 50
                np.testing.assert_array_equal(force, velocity * np.float32(SKYHOOK))
                publisher.close()
                measured = json.loads(controller.communicate(timeout=30)[0])
            finally:
                controller.kill()
    assert len(measured["ages_ns"]) == measured["taken"] >= 1


def _command(publisher):
    """Wait for a command in the mailbox, as the tick would find it; and the step that it answers."""
    force, end = np.zeros(4, np.float32), time.monotonic() + 20.0
    while not (answer := publisher.ring.take(0, force)):
        assert time.monotonic() < end, "no command came"
    return force, answer[0]
