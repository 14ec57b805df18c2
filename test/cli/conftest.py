"""Commands run in this process, and a plant in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from sim_node.cli.main import run

PLANT = '''
import sim_node as sn

print("a plant that prints when it is imported")


@sn.kernel
def step(x: sn.array(dtype=sn.float32), v: sn.array(dtype=sn.float32), force: sn.array(dtype=sn.float32), k: float,
         dt: float, x_next: sn.array(dtype=sn.float32), v_next: sn.array(dtype=sn.float32)):
    i = sn.tid()
    v_next[i] = v[i] + dt * (force[i] - k * x[i])
    x_next[i] = x[i] + dt * v_next[i]


class Springs(sn.Plant):
    """Springs beside one another."""

    count = sn.parameter(3, doc="how many", min=1)
    k = sn.parameter(10.0, unit="N/m", min=0.0)
    force = sn.input(sn.float32, shape="count", unit="N")
    x = sn.state(sn.float32, shape="count", unit="m", publish=True, initial=0.1)
    v = sn.state(sn.float32, shape="count", unit="m/s")

    def build(self, plan, dt):
        inputs = [self.x, self.v, self.force, self.k, dt]
        plan.launch(step, dim=self.count, inputs=inputs, outputs=[self.x.next, self.v.next])
'''


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


@pytest.fixture
def sim_node(capsys):
    """Run a command line in this process."""

    def command(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return command


@pytest.fixture
def plant(tmp_path):
    """A file with the plant Springs; `file.py` names it."""
    file = tmp_path / "springs.py"
    file.write_text(PLANT)
    return file


@pytest.fixture
def bag(sim_node, plant, tmp_path):
    """A bag of 300 ticks of Springs, a keyframe each 100."""
    path = tmp_path / "springs.mcap"
    options = ("--offline", "--seconds", 0.3, "--keyframe-every", 100, "--input", "force=[1, 2, 3]")
    assert sim_node("run", plant, *options, "--bag", path).code == 0
    return path
