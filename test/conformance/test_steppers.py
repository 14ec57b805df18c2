"""Ticks have the CPU's bits on every device: with substeps, leased slots, and keyframes taken meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
from devices import COMPILED, GPUS

import sim_node as sn
from sim_node.bridge import Publisher, Subscriber
from sim_node.plant import Plant, Stepper

F32, I64 = sn.array(dtype=sn.float32), sn.array(dtype=sn.int64)


@sn.kernel
def swing(x: F32, v: F32, force: F32, dt: float, x_next: F32, v_next: F32):
    i = sn.tid()
    v_next[i] = v[i] + dt * (force[i] - 40.0 * x[i])
    x_next[i] = x[i] + dt * v_next[i]


@sn.kernel
def settle(x_next: F32, v_next: F32, count: I64, count_next: I64, energy: F32):
    i = sn.tid()
    energy[i] = x_next[i] * x_next[i] + v_next[i] * v_next[i]
    count_next[0] = count[0] + sn.int64(1)


class Swings(Plant):
    """Published and private states, of sizes that fill no word, an input and an output."""

    force = sn.input(sn.float32, shape=5)
    x = sn.state(sn.float32, shape=5, publish=True)
    v = sn.state(sn.float32, shape=5)
    count = sn.state(sn.int64)
    energy = sn.output(sn.float32, shape=5)

    def initial(self, seed):
        return {"x": np.random.default_rng(seed).random(5, np.float32)}

    def build(self, plan, dt):
        plan.launch(swing, 5, [self.x, self.v, self.force, dt], [self.x.next, self.v.next])
        plan.launch(settle, 5, [self.x.next, self.v.next, self.count], [self.count.next, self.energy])


def pushed(stepper, tick):
    """Do a tick with inputs of its own."""
    stepper.set("force", np.arange(5, dtype=np.float32) * tick)
    stepper.tick()


@pytest.mark.parametrize("substeps", [1, 2, 3])
@COMPILED
def test_each_tick_has_the_bits_of_the_cpu(device, substeps):
    plant = Swings()
    with Publisher(plant.layout, plant.input_layout, slots=3) as publisher, Subscriber(publisher) as subscriber:
        here = Stepper(plant, dt_ns=10**7, substeps=substeps, seed=3)
        there = Stepper(plant, dt_ns=10**7, substeps=substeps, seed=3, ring=publisher.ring, device=device)
        held = []
        for tick in range(1, 21):
            pushed(here, tick)
            pushed(there, tick)
            assert there.hashes().tolist() == here.hashes().tolist()
            assert there.keyframe().state == here.keyframe().state
            if len(held) < 4 and tick > 4:  # all slots, and the spares are written
                held.append((subscriber.latest(), tick, here.get("x"), here.get("energy")))
        shown = [one for one in held if one[0].step == one[1]]  # the others were not published any more
        assert len(shown) == 3
        for slot, _, x, energy in shown:
            assert (slot["x"].tolist(), slot["energy"].tolist()) == (x.tolist(), energy.tolist())
        assert there.counters()["dropped"] > 4
        assert there.copies_per_tick == 0
        for slot, *_ in held:
            slot.release()
        pushed(here, 21)
        pushed(there, 21)
        with subscriber.latest() as slot:
            assert (slot.step, slot["x"].tolist()) == (21, here.get("x").tolist())


@pytest.mark.parametrize("substeps", [1, 2, 3])
@COMPILED
def test_keyframes_taken_between_ticks_go_on_elsewhere(device, substeps):
    for first, second in ((device, "cpu"), ("cpu", device)):
        made = Stepper(Swings(), dt_ns=10**7, substeps=substeps, seed=5, device=first, keyframe_every=3)
        other = Stepper(Swings(), dt_ns=10**7, substeps=substeps, seed=6, device=second)
        taken, left = [], {}
        for tick in range(1, 21):
            pushed(made, tick)
            left[tick] = made.hashes().tolist()
            if (keyframe := made.take_keyframe()) is not None:
                taken.append(keyframe)
        assert [keyframe.step for keyframe in taken] == [3, 6, 9, 12, 15, 18]
        for keyframe in taken:
            other.restore(keyframe)
            assert other.hashes().tolist() == left[keyframe.step]
            for tick in range(keyframe.step + 1, 21):
                pushed(other, tick)
                assert other.hashes().tolist() == left[tick]


class Apart(Swings):
    """The same, for readers on the device, on both, and an output there."""

    x = sn.state(sn.float32, shape=5, publish="both")
    v = sn.state(sn.float32, shape=5, publish="device")
    energy = sn.output(sn.float32, shape=5, publish="device")


@pytest.mark.parametrize("substeps", [1, 2, 3])
@GPUS
def test_fields_on_a_gpu_have_the_bits_of_the_cpu(device, substeps):
    plant = Apart()
    here = Stepper(plant, dt_ns=10**7, substeps=substeps, seed=3)
    alone = Stepper(plant, dt_ns=10**7, substeps=substeps, seed=3, device=device)
    with (
        Publisher(
            plant.host_layout, plant.input_layout, slots=3, device_layout=plant.device_layout, device=device
        ) as publisher,
        Subscriber(publisher) as subscriber,
    ):
        there = Stepper(
            plant, dt_ns=10**7, substeps=substeps, seed=3, ring=publisher.ring, slots=publisher.exported, device=device
        )
        held = []
        for tick in range(1, 21):
            for stepper in (here, there, alone):
                pushed(stepper, tick)
            assert there.hashes().tolist() == alone.hashes().tolist() == here.hashes().tolist()
            assert there.keyframe().state == here.keyframe().state
            if len(held) < 3 and tick > 4:  # all slots, and the spares are written
                held.append((subscriber.latest(), {name: here.get(name).tolist() for name in ("x", "v", "energy")}))
        for slot, values in held:
            assert {name: slot.fetch(name).tolist() for name in values} == values
            assert slot["x"].tolist() == values["x"]
        assert (there.copies_per_tick, alone.copies_per_tick) == (1, 0)
        assert there.counters()["dropped"] > 4
        for slot, _ in held:
            slot.release()
        there.restore(here.keyframe())
        with subscriber.latest() as slot:
            assert slot.fetch("v").tolist() == here.get("v").tolist()
            assert slot["x"].tolist() == here.get("x").tolist()
