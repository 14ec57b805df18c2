"""A plant of published and private states, an output and an input, with its twin in numpy."""

from __future__ import annotations

import numpy as np
import pytest

import sim_node as sn
from sim_node.plant import Plant


@sn.kernel
def oscillate(
    position: sn.array(dtype=sn.float32),
    velocity: sn.array(dtype=sn.float32),
    phase: sn.array(dtype=sn.uint32),
    force: sn.array(dtype=sn.float32),
    stiffness: float,
    dt: float,
    position_next: sn.array(dtype=sn.float32),
    velocity_next: sn.array(dtype=sn.float32),
    phase_next: sn.array(dtype=sn.uint32),
):
    i = sn.tid()
    v = velocity[i] + dt * (force[i] - stiffness * position[i])
    velocity_next[i] = v
    position_next[i] = position[i] + dt * v
    phase_next[i] = phase[i] * 1664525 + 1013904223


@sn.kernel
def count(
    ticks: sn.array(dtype=sn.int64),
    position_next: sn.array(dtype=sn.float32),
    limit: int,
    ticks_next: sn.array(dtype=sn.int64),
    square: sn.array(dtype=sn.float32),
):
    i = sn.tid()
    assert sn.int32(ticks[0]) < limit
    ticks_next[0] = ticks[0] + 1
    square[i] = position_next[i] * position_next[i]


class Oscillators(Plant):
    """Springs side by side.

    Each knows how often it was stepped.
    """

    size = sn.parameter(5, doc="how many", min=1, max=100)
    stiffness = sn.parameter(50.0, unit="N/m", min=0.0)
    limit = sn.parameter(2**31 - 1, doc="substeps until it stops itself")
    force = sn.input(sn.float32, shape="size", unit="N", initial=0.5)
    position = sn.state(sn.float32, shape="size", unit="m", publish=True)
    velocity = sn.state(sn.float32, shape="size", unit="m/s", initial=1.0)
    phase = sn.state(sn.uint32, shape="size", publish=True, initial=7)
    ticks = sn.state(sn.int64)
    square = sn.output(sn.float32, shape="size", unit="m²")

    def initial(self, seed):
        return {"position": np.random.default_rng(seed).random(self.size, np.float32)}

    def build(self, plan, dt):
        plan.launch(
            oscillate,
            dim=self.size,
            inputs=[self.position, self.velocity, self.phase, self.force, self.stiffness, dt],
            outputs=[self.position.next, self.velocity.next, self.phase.next],
        )
        plan.launch(
            count,
            dim=self.size,
            inputs=[self.ticks, self.position.next, self.limit],
            outputs=[self.ticks.next, self.square],
        )


class Twin:
    """The same in numpy, operation by operation."""

    def __init__(self, plant, seed, dt):
        self.position = np.asarray(plant.initial(seed)["position"])
        self.velocity = np.full(plant.size, 1, np.float32)
        self.phase = np.full(plant.size, 7, np.uint32)
        self.ticks = np.zeros((), np.int64)
        self.square = np.zeros(plant.size, np.float32)
        self._stiffness, self._dt = np.float32(plant.stiffness), np.float32(dt)

    def step(self, force):
        self.velocity = self.velocity + self._dt * (force - self._stiffness * self.position)
        self.position = self.position + self._dt * self.velocity
        self.phase = self.phase * np.uint32(1664525) + np.uint32(1013904223)
        self.ticks = self.ticks + 1
        self.square = self.position * self.position

    def fields(self):
        return {name: getattr(self, name) for name in ("position", "velocity", "phase", "ticks", "square")}


@pytest.fixture(scope="session")
def oscillators():
    return Oscillators


@pytest.fixture(scope="session")
def twin():
    return Twin
