"""examples/controller.c, built as its comment says, closes the loop with the suspension, as C11 and as C++17."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.layout import Layout
from sim_node.plant import Stepper

ROOT = Path(__file__).resolve().parents[2]
STRICT = ["-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT / 'include'}"]
LANGUAGES = {"c11": ["cc", "-std=c11", "-D_GNU_SOURCE"], "c++17": ["c++", "-x", "c++", "-std=c++17"]}


@pytest.fixture(scope="module", params=LANGUAGES)
def controller(request, tmp_path_factory):
    words = LANGUAGES[request.param]
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    program = tmp_path_factory.mktemp("controller") / "controller"
    subprocess.run([*words, *STRICT, str(ROOT / "examples" / "controller.c"), "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize("corners", [1, 4, 7])
def test_it_closes_the_loop(controller, corners):
    plant = QuarterCar(corners=corners, lead=0.0)
    name = f"/rig/c_{os.getpid()}"
    with Publisher(plant.layout, plant.input_layout, name) as publisher:
        stepper = Stepper(plant, dt_ns=1_000_000, ring=publisher.ring)
        child = subprocess.Popen([controller, name], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "ready\n"
        end = time.monotonic() + 60
        for _ in range(50):
            stepper.tick()
            wanted = np.float32(-3000) * stepper.get("body_velocity")
            while (command := publisher.take("force")) is None:
                assert time.monotonic() < end
            assert command.tobytes() == wanted.tobytes()
            stepper.set("force", command)
        assert wanted.any()
        publisher.close()
        told = child.communicate(timeout=60)[0]
    assert child.returncode == 0
    assert told.endswith("ticks answered, 0 missed\n")


def test_it_says_what_does_not_fit(controller):
    name = f"c_{os.getpid()}"

    def said(*words):
        done = subprocess.run([controller, *words], stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2
        return done.stderr

    velocity, force = ("body_velocity", dtypes.float32, (4,), "m/s"), ("force", dtypes.float32, (4,), "N")
    tricky = ("tricky", dtypes.float32, (), '{"dtype":"f32","name":"force","offset":0')
    assert "usage" in said()
    assert "there is no segment" in said(name)
    for states, inputs, message in (
        ([velocity], [tricky], "there is no input of that name"),
        ([velocity], [("force", dtypes.float64, (4,), "N")], "the input is of another dtype"),
        ([velocity], [("force", dtypes.float32, (65,), "N")], "a command of it has another size"),
        ([tricky], [tricky, force], "there is no published field of that name"),
        ([("body_velocity", dtypes.vec3, (4,), "m/s")], [force], "the field is of another dtype"),
        (
            [("body_velocity", dtypes.float32, (), "m/s")],
            [("force", dtypes.float32, (20,), "N")],
            "does not fit the slot",
        ),
    ):
        with Publisher(Layout.of(states), Layout.of(inputs), name):
            assert message in said(name), message
