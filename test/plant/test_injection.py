"""Each kind of fault against numpy, for types of each family, on an input and on what readers see."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim_node as sn
from sim_node import dtypes
from sim_node.plant import Plant, Stepper
from sim_node.plant.fault import KINDS
from sim_node.plant.fault_table import FaultTable
from sim_node.plant.faultable import TABLE, Allowed, faultable

DT_NS, LONGEST, TICKS = 1_000_000, 3, 8
TYPES = ("f16", "f32", "f64", "i8", "u64", "bool", "vec3f", "quatd", "mat22f")


@cache
def echo(name):
    """A plant whose state is its input, both of which may have faults, and a stepper of it."""
    kind = dtypes.named(name)

    @sn.kernel
    def copy(u: sn.array(dtype=kind), y: sn.array(dtype=kind), z: sn.array(dtype=kind)):
        i = sn.tid()
        y[i] = u[i]
        z[i] = u[i]

    class Echo(Plant):
        u = sn.input(kind, shape=2)
        y = sn.state(kind, shape=2, publish=True)
        z = sn.output(kind, shape=2)

        def build(self, plan, dt):
            plan.launch(copy, dim=2, inputs=[self.u], outputs=[self.y.next, self.z])

    plant = faultable(Echo, Allowed((("u", LONGEST), ("y", LONGEST), ("z", LONGEST)), rows=4))()
    return Stepper(plant, dt_ns=DT_NS, substeps=2)


def converted(value, kind):
    if kind.kind == "b":
        return value != 0
    with np.errstate(over="ignore"):
        if kind.kind == "f":
            return kind.type(value)
    limits = np.iinfo(kind)
    return kind.type(min(max(int(np.rint(value)), int(limits.min)), int(limits.max)))


def flipped(x, bit):
    if x.dtype.kind == "b":
        return ~x
    word = np.dtype(f"u{x.dtype.itemsize}").type
    found = np.asarray(x).view(word) ^ word(1 << bit)
    return np.asarray(found).view(x.dtype)[()]


def changed(fault, x, before, late):
    """One number, as the fault makes it; drop is certain or never here."""
    wanted = {
        "stuck_at": lambda: converted(fault.value, x.dtype),
        "nan": lambda: converted(fault.value, x.dtype),
        "offset": lambda: converted(float(x) + fault.value, x.dtype),
        "gain": lambda: converted(float(x) * fault.value, x.dtype),
        "delay": lambda: late,
        "drop": lambda: before if fault.value else x,
        "flip_bit": lambda: flipped(x, int(fault.value)),
    }
    return wanted[fault.kind]()


class Twin:
    """The faults of one variable in numpy."""

    def __init__(self, like):
        self.seen = np.zeros_like(like)
        self.past = [np.zeros_like(like)] * (LONGEST + 1)

    def step(self, faults, tick, true):
        self.past = [true, *self.past[:-1]]
        seen = true.copy()
        for fault in faults:
            for at in range(seen.size):
                if fault.is_active(tick) and fault.element in (-1, at):
                    late = self.past[int(fault.value) if fault.kind == "delay" else 0]
                    seen.flat[at] = changed(fault, seen.flat[at], self.seen.flat[at], late.flat[at])
        self.seen = seen
        return seen


def same(found, wanted):
    """Equal bits, of which NaN has one pattern."""
    if wanted.dtype.kind == "f":
        wanted = np.where(np.isnan(wanted), np.abs(np.array(np.nan, wanted.dtype)), wanted)
    return found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


@st.composite
def asked(draw, variable, field):
    scalar = field.element.scalar
    barred = ["noise", *([] if scalar.is_float else ["nan"]), *(["offset", "gain"] if scalar.name == "bool" else [])]
    kind = draw(st.sampled_from([kind for kind in KINDS if kind not in barred]))
    small = st.floats(-100, 100) if scalar.is_float else st.integers(0, 1 if scalar.name == "bool" else 100)
    value = draw({
        "stuck_at": small, "offset": st.floats(-1e3, 1e3), "gain": st.floats(-10, 10),
        "delay": st.integers(0, LONGEST).map(lambda ticks: ticks * DT_NS * 1e-9), "drop": st.sampled_from([0.0, 1.0]),
        "nan": st.just(True), "flip_bit": st.integers(0, scalar.bits - 1),
    }[kind])  # fmt: skip
    first = draw(st.integers(1, TICKS))
    element = draw(st.none() | st.integers(0, np.prod(field.numpy_shape) - 1).map(int))
    return {"variable": variable, kind: value, "first_tick": first, "last_tick": first + draw(st.integers(0, TICKS)),
            "element": element, "seed": draw(st.integers(0, 2**32 - 1))}  # fmt: skip


def any_value(random, field):
    """Any bits, but for those of no finite number."""
    if field.element.scalar.name == "bool":
        return random.random(field.numpy_shape) < 0.5
    value = np.frombuffer(random.bytes(field.nbytes), field.element.numpy).reshape(field.numpy_shape)
    return np.where(np.isfinite(value), value, 1) if value.dtype.kind == "f" else value


@pytest.mark.parametrize("name", TYPES)
def test_faults_are_those_of_numpy(name):
    stepper = echo(name)
    field, plant = stepper.input_layout["u"], stepper.plant

    @settings(max_examples=12, deadline=None)
    @given(st.data())
    def check(data):
        table = FaultTable(plant, DT_NS)
        for variable in data.draw(st.lists(st.sampled_from(["u", "y", "z"]), max_size=4)):
            table.inject(data.draw(asked(variable, field)), 0)
        stepper.reset()
        stepper.set(TABLE, table.rows())
        twins = {variable: Twin(stepper.get("u")) for variable in "uyz"}
        of = {variable: [each for each in table.faults if each.variable == variable] for variable in "uyz"}
        random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
        for tick in range(1, TICKS + 1):
            given_value = any_value(random, field)
            stepper.set("u", given_value)
            stepper.tick()
            applied = twins["u"].step(of["u"], tick, given_value)
            assert same(stepper.get("u.applied"), applied)
            assert same(stepper.get("y.true"), applied)
            assert same(stepper.get("y"), twins["y"].step(of["y"], tick, stepper.get("y.true")))
            assert same(stepper.get("z"), twins["z"].step(of["z"], tick, stepper.get("z.true")))

    check()


def run(device, faults, ticks, name="f32"):
    stepper = Stepper(echo(name).plant, dt_ns=DT_NS, device=device)
    table = FaultTable(stepper.plant, DT_NS)
    for each in faults:
        table.inject(each, 0)
    stepper.set(TABLE, table.rows())
    rows = []
    for tick in range(ticks):
        stepper.set("u", [tick, -tick])
        stepper.tick()
        rows.append(stepper.get("y"))
    return np.array(rows)


def test_noise_is_normal_seeded_and_of_each_element_its_own():
    noise = {"variable": "y", "noise": 2.0, "seed": 7}
    still = np.arange(3000)[:, None] * np.array([1, -1])
    found = run("cpu", [noise], 3000) - still
    assert abs(found.mean()) < 0.1
    assert abs(found.std() - 2) < 0.1
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.1
    assert abs(np.corrcoef(found[1:, 0], found[:-1, 0])[0, 1]) < 0.1
    assert np.array_equal(found, run("cpu", [noise], 3000) - still)
    other = run("cpu", [{**noise, "seed": 8}], 3000) - still
    assert abs(np.corrcoef(found[:, 0], other[:, 0])[0, 1]) < 0.1


def test_a_drop_loses_whole_ticks_as_often_as_was_asked():
    found = run("cpu", [{"variable": "y", "drop": 0.25, "seed": 3}], 4000)
    lost = found[1:, 0] == found[:-1, 0]
    assert np.array_equal(lost, found[1:, 1] == found[:-1, 1])
    assert abs(lost.mean() - 0.25) < 0.03


def test_cpython_injects_the_same_bits():
    faults = [
        {"variable": "u", "noise": 0.5, "seed": 1}, {"variable": "u", "drop": 0.3, "seed": 2},
        {"variable": "y", "flip_bit": 30, "element": 1, "first_tick": 5}, {"variable": "y", "delay": 0.002},
    ]  # fmt: skip
    assert run("cpu", faults, 20).tobytes() == run("python", faults, 20).tobytes()


def test_any_table_is_survived():
    """Writers of the ring may send what they like: no row reads or writes beyond its arrays."""
    stepper, random = echo("f32"), np.random.default_rng(1)
    strange = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 0.5, -1.0, 2.0**31, 2.0**63, *range(10)])
    stepper.reset()
    for _ in range(200):
        stepper.set(TABLE, random.choice(strange, stepper.input_layout[TABLE].shape))
        stepper.tick()
    stepper.reset()
