"""What the README shows is true: its code runs as it stands, and its figures are those that were measured."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sim_node.bridge import Publisher
from sim_node.cli.main import run
from sim_node.plant import Stepper, reference

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PLANT, CONTROLLER = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = [line.partition("#")[0].lstrip("$ ") for line in README.splitlines() if line.startswith("$ sim-node")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "springs.py").write_text(PLANT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_plant_has_25_lines():
    assert len([line for line in PLANT.splitlines() if line.strip()]) <= 25


def test_the_commands_without_ros_run(folder):
    offline = [command for command in COMMANDS if "--offline" in command or "verify" in command]
    assert len(offline) == 2
    for command in offline:
        assert run(shlex.split(command)[1:]) == 0


def test_the_controller_closes_the_loop(folder):
    plant = reference("springs.py")(count=2)
    name = f"readme.{os.getpid()}"
    code = CONTROLLER.replace("/plant", name)
    with (
        Publisher(plant.layout, plant.input_layout, name) as publisher,
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as controller,
    ):
        try:
            stepper = Stepper(plant, dt_ns=1_000_000, ring=publisher.ring)
            stepper.set("force", np.full((2, 3), 100.0))
            end = time.monotonic() + 30.0
            while not (stepper.get("force") < 0).any():
                assert time.monotonic() < end, "no command came"
                stepper.tick()
                time.sleep(0.001)  # the controller's turn
        finally:
            controller.kill()
    assert stepper.statistics()["delay_ticks"].count > 0


def test_the_figures_are_the_measured_ones(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import measured

    assert measured.rewrite(README) == README, "run scripts/measured.py"


def test_the_pictures_are_there():
    for path in re.findall(r"!\[.*?\]\((.*?)\)", README) + re.findall(r"\]\(([\w/.]+)\)", README):
        assert (ROOT / path).exists(), path
