"""A car's suspension, one quarter-car model a corner, driven over a road with bumps."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import sim_node as sn
from sim_node.errors import PlantError
from sim_node.plant.plant import Plant
from sim_node.plant.recording import Recording

GRAVITY = 9.80665  # m/s², standard acceleration of gravity (CGPM 1901)


@sn.func
def bump(x: float, length: float, height: float) -> float:
    """Height of the road at x from the start of a bump: 64 h (u (1 - u))³ with u = x / length, twice differentiable."""
    u = x / length
    w = u * (1.0 - u)
    return height * 64.0 * w * w * w if x < length else 0.0


@sn.kernel
def step(
    body: sn.array(dtype=sn.float32),
    wheel: sn.array(dtype=sn.float32),
    body_velocity: sn.array(dtype=sn.float32),
    wheel_velocity: sn.array(dtype=sn.float32),
    distance: sn.array(dtype=sn.float32),
    force: sn.array(dtype=sn.float32),
    sprung_mass: float,
    unsprung_mass: float,
    spring_stiffness: float,
    damping: float,
    tyre_stiffness: float,
    force_limit: float,
    semi_active: bool,
    bump_height: float,
    bump_length: float,
    bump_spacing: float,
    travel: float,
    dt: float,
    body_next: sn.array(dtype=sn.float32),
    wheel_next: sn.array(dtype=sn.float32),
    body_velocity_next: sn.array(dtype=sn.float32),
    wheel_velocity_next: sn.array(dtype=sn.float32),
    distance_next: sn.array(dtype=sn.float32),
    road: sn.array(dtype=sn.float32),
    tyre_force: sn.array(dtype=sn.float32),
):
    """One substep by the semi-implicit Euler method."""
    i = sn.tid()
    height = bump(distance[i], bump_length, bump_height)
    relative = body_velocity[i] - wheel_velocity[i]
    command = sn.clamp(force[i], -force_limit, force_limit)
    if semi_active and command * relative > 0.0:
        command = 0.0  # it would put energy in
    suspension = command - spring_stiffness * (body[i] - wheel[i]) - damping * relative
    weight = (sprung_mass + unsprung_mass) * GRAVITY
    tyre = sn.max(weight + tyre_stiffness * (height - wheel[i]), 0.0)  # a tyre in the air does not pull

    v = body_velocity[i] + dt * (suspension / sprung_mass)
    body_velocity_next[i] = v
    body_next[i] = body[i] + dt * v
    w = wheel_velocity[i] + dt * ((tyre - weight - suspension) / unsprung_mass)
    wheel_velocity_next[i] = w
    wheel_next[i] = wheel[i] + dt * w

    ahead = distance[i] + travel
    distance_next[i] = ahead - bump_spacing if ahead >= bump_spacing else ahead
    road[i] = height
    tyre_force[i] = tyre


class QuarterCar(Plant):
    """Quarter-car suspension, one a corner, with a semi-active damper.

    Two masses, spring, passive damper, tyre as a spring that only pushes, and a commanded damper force; heights count
    from rest under gravity, upwards. Corners go in pairs: the first two are the front axle, each further pair follows a
    wheelbase behind. Model and values of a passenger car: Rajamani, "Vehicle Dynamics and Control", 2nd ed. 2012,
    chapter 10; tyre stiffness about ten times that of the spring, as there.
    """

    corners = sn.parameter(4, doc="number of corners", min=1, max=1_000_000)
    sprung_mass = sn.parameter(250.0, doc="body mass that one corner carries", unit="kg", min=1.0, max=1e5)
    unsprung_mass = sn.parameter(45.0, doc="wheel, hub and half of the links", unit="kg", min=1.0, max=1e4)
    spring_stiffness = sn.parameter(16e3, doc="suspension spring", unit="N/m", min=0.0, max=1e7)
    damping = sn.parameter(1e3, doc="passive part of the damper", unit="N s/m", min=0.0, max=1e6)
    tyre_stiffness = sn.parameter(160e3, doc="vertical stiffness of the tyre", unit="N/m", min=1e3, max=1e8)
    force_limit = sn.parameter(2e3, doc="largest damper force on command", unit="N", min=0.0, max=1e6)
    semi_active = sn.parameter(True, doc="the commanded force only takes energy out, as a valve does")
    speed = sn.parameter(10.0, doc="speed of the car", unit="m/s", min=0.0, max=150.0)
    wheelbase = sn.parameter(2.7, doc="from axle to axle", unit="m", min=0.0, max=20.0)
    bump_height = sn.parameter(0.06, doc="of each bump; negative: a dip", unit="m", min=-0.5, max=0.5)
    bump_length = sn.parameter(1.5, doc="of each bump", unit="m", min=0.01, max=1e3)
    bump_spacing = sn.parameter(25.0, doc="from bump to bump", unit="m", min=0.02, max=1e4)
    lead = sn.parameter(5.0, doc="road before the first bump", unit="m", min=0.0, max=1e4)

    force = sn.input(sn.float32, shape="corners", unit="N", doc="damper force wanted, on the body upwards")

    body = sn.state(sn.float32, shape="corners", unit="m", doc="height of the body", publish=True)
    wheel = sn.state(sn.float32, shape="corners", unit="m", doc="height of the wheel", publish=True)
    body_velocity = sn.state(sn.float32, shape="corners", unit="m/s", doc="of the body, upwards", publish=True)
    wheel_velocity = sn.state(sn.float32, shape="corners", unit="m/s", doc="of the wheel, upwards", publish=True)
    distance = sn.state(sn.float32, shape="corners", unit="m", doc="from the start of the last bump, as if from one")

    road = sn.output(
        sn.float32, shape="corners", unit="m", doc="height of the road under the wheel in the last substep"
    )
    tyre_force = sn.output(sn.float32, shape="corners", unit="N", doc="of the road on the wheel in the last substep")

    def initial(self, seed: int) -> Mapping[str, Any]:  # noqa: ARG002
        """At rest, the front axle ``lead`` before the first bump."""
        axle = np.arange(self.corners) // 2
        return {"distance": ((-self.lead - axle * self.wheelbase) % self.bump_spacing).astype(np.float32)}

    def build(self, plan: Recording, dt: float) -> None:
        """Launch one thread a corner.

        Raises PlantError where bumps overlap, or the car passes a whole spacing in a substep.
        """
        if self.bump_length > self.bump_spacing or self.speed * dt >= self.bump_spacing:
            raise PlantError(
                f"QuarterCar: bump_spacing = {self.bump_spacing} m must be at least bump_length = {self.bump_length} m "
                f"and more than the {self.speed * dt:g} m driven in a substep"
            )
        plan.launch(
            step,
            dim=self.corners,
            inputs=[
                self.body, self.wheel, self.body_velocity, self.wheel_velocity, self.distance, self.force,
                self.sprung_mass, self.unsprung_mass, self.spring_stiffness, self.damping, self.tyre_stiffness,
                self.force_limit, self.semi_active, self.bump_height, self.bump_length, self.bump_spacing,
                self.speed * dt, dt,
            ],
            outputs=[
                self.body.next, self.wheel.next, self.body_velocity.next, self.wheel_velocity.next, self.distance.next,
                self.road, self.tyre_force,
            ],
        )  # fmt: skip
