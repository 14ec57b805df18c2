"""The quarter car against its equations in numpy, bit for bit, and against what can be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node.errors import PlantError, StabilityWarning
from sim_node.kernels.quarter_car import GRAVITY, QuarterCar
from sim_node.plant import Stepper

F = np.float32
DT_NS = 1_000_000


class Twin:
    """The equations in float32, operation by operation as the kernel has them."""

    def __init__(self, car, dt):
        self.p = {name: F(value) for name, value in car.parameters.items() if isinstance(value, float)}
        self.semi_active = car.semi_active
        self.dt, self.travel = F(dt), F(car.speed * dt)
        zero = np.zeros(car.corners, F)
        self.body, self.wheel, self.body_velocity, self.wheel_velocity = zero, zero, zero, zero
        self.distance = np.asarray(car.initial(0)["distance"])
        self.road, self.tyre_force = zero, zero

    def step(self, force):
        p, dt = self.p, self.dt
        u = self.distance / p["bump_length"]
        w = u * (F(1) - u)
        height = np.where(self.distance < p["bump_length"], p["bump_height"] * F(64) * w * w * w, F(0))
        relative = self.body_velocity - self.wheel_velocity
        command = np.clip(force, -p["force_limit"], p["force_limit"])
        if self.semi_active:
            command = np.where(command * relative > 0, F(0), command)
        suspension = command - p["spring_stiffness"] * (self.body - self.wheel) - p["damping"] * relative
        weight = (p["sprung_mass"] + p["unsprung_mass"]) * F(GRAVITY)
        tyre = np.maximum(weight + p["tyre_stiffness"] * (height - self.wheel), F(0))
        self.body_velocity = self.body_velocity + dt * (suspension / p["sprung_mass"])
        self.body = self.body + dt * self.body_velocity
        self.wheel_velocity = self.wheel_velocity + dt * ((tyre - weight - suspension) / p["unsprung_mass"])
        self.wheel = self.wheel + dt * self.wheel_velocity
        ahead = self.distance + self.travel
        self.distance = np.where(ahead >= p["bump_spacing"], ahead - p["bump_spacing"], ahead)
        self.road, self.tyre_force = height, tyre


@settings(max_examples=15, deadline=None)
@given(
    corners=st.integers(1, 9),
    semi_active=st.booleans(),
    speed=st.floats(0, 60),
    bump_height=st.floats(-0.3, 0.3),
    force=st.floats(-5e3, 5e3, width=32),
    substeps=st.integers(1, 3),
)
def test_every_bit_of_the_equations(corners, semi_active, speed, bump_height, force, substeps):
    car = QuarterCar(
        corners=corners, semi_active=semi_active, speed=speed, bump_height=bump_height, lead=0.2, bump_spacing=3.0
    )
    stepper = Stepper(car, dt_ns=DT_NS, substeps=substeps)
    twin = Twin(car, DT_NS * 1e-9 / substeps)
    forces = np.linspace(-1, 1, corners).astype(F) * F(force)
    stepper.set("force", forces)
    for _ in range(40):
        stepper.tick(5)
        for _ in range(5 * substeps):
            twin.step(forces)
        for field in stepper.state_layout:
            assert stepper.get(field.name).tobytes() == getattr(twin, field.name).tobytes(), field.name


def test_a_constant_force_lifts_the_body_by_force_over_stiffness():
    car = QuarterCar(semi_active=False, bump_height=0.0, force_limit=900.0)
    stepper = Stepper(car, dt_ns=DT_NS)
    stepper.set("force", [0.0, 400.0, -400.0, 5000.0])  # the last saturates
    stepper.tick(20_000)
    deflection = stepper.get("body") - stepper.get("wheel")
    np.testing.assert_allclose(
        deflection, np.array([0.0, 400.0, -400.0, 900.0]) / car.spring_stiffness, rtol=1e-4, atol=1e-7
    )
    weight = (car.sprung_mass + car.unsprung_mass) * GRAVITY
    np.testing.assert_allclose(stepper.get("tyre_force"), weight, rtol=1e-4)
    np.testing.assert_allclose(stepper.get("wheel"), 0.0, atol=2e-6)


def test_at_rest_it_stays_at_rest():
    stepper = Stepper(QuarterCar(speed=0.0), dt_ns=DT_NS)
    start = stepper.keyframe()
    stepper.tick(1000)
    weight = F(295.0) * F(GRAVITY)
    assert (stepper.get("tyre_force") == weight).all()
    for field in stepper.state_layout:
        if field.name != "tyre_force":
            assert stepper.get(field.name).tobytes() == field.view(start.state).tobytes()


def test_a_wheel_thrown_up_loses_contact_and_lands():
    stepper = Stepper(QuarterCar(speed=20.0, bump_height=0.15, bump_length=1.0), dt_ns=DT_NS)
    forces = []
    for _ in range(600):
        stepper.tick()
        forces.append(stepper.get("tyre_force")[0])
    assert min(forces) == 0.0
    assert forces[-1] > 0.0


def test_the_rear_axle_meets_the_bump_a_wheelbase_later():
    car = QuarterCar()
    stepper = Stepper(car, dt_ns=DT_NS)
    road = []
    for _ in range(1200):
        stepper.tick()
        road.append(stepper.get("road"))
    peaks = np.argmax(road, axis=0)
    assert peaks[0] == peaks[1]
    assert abs(int(peaks[2] - peaks[0]) - car.wheelbase / car.speed * 1000) <= 1
    assert np.max(road) == pytest.approx(car.bump_height, rel=1e-3)


def test_it_is_stable_at_a_kilohertz():
    car = QuarterCar(speed=30.0, bump_spacing=10.0)
    stepper = Stepper(car, dt_ns=DT_NS)
    stepper.tick(60_000)
    assert np.abs(stepper.get("body")).max() < 0.2


@pytest.mark.parametrize("wrong", [{"bump_length": 30.0}, {"speed": 150.0, "bump_spacing": 0.1, "bump_length": 0.05}])
def test_bumps_that_overlap_are_refused(wrong):
    with pytest.raises(PlantError, match=r"QuarterCar: bump_spacing = [\d.]+ m must be at least bump_length"):
        Stepper(QuarterCar(**wrong), dt_ns=DT_NS)


def test_a_tyre_too_stiff_for_the_tick_is_warned_of():
    assert Stepper(QuarterCar(), dt_ns=DT_NS).warnings == ()
    stiff = QuarterCar(tyre_stiffness=1e8, unsprung_mass=20.0)
    with pytest.warns(StabilityWarning, match=r"wheel_velocity_next\[i\] = w") as said:
        stepper = Stepper(stiff, dt_ns=DT_NS)
    (warning,) = stepper.warnings
    assert said[0].filename.endswith("quarter_car.py")
    assert warning.what == "unstable spring-damper loop: dt·√(k/m) = 2.24 > 1.97 with dt·c/m = 0.05"
    assert Stepper(stiff, dt_ns=DT_NS, substeps=2).warnings == ()
