"""A slot is committed by the kernel that the tick ends with, whole, and not at all where a thread stopped itself."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from devices import COMPILED, GPUS

import sim_node as sn
from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import KernelError, RingError
from sim_node.plant import Plant, Stepper
from sim_node.plant.commit import publish
from sim_node.plant.hashing import SUMS


@COMPILED
@pytest.mark.parametrize("stopped", [0, 1])
def test_the_kernel_publishes_a_slot_unless_a_thread_stopped_itself(device, stopped):
    words = np.random.default_rng(0).integers(0, 2**64, 3 * SUMS, np.uint64)
    sums = sn.array(words, dtype=sn.uint64, device=device)
    flag = sn.array([stopped], dtype=sn.uint32, device=device)
    slot, latest = (sn.array([7] * n, dtype=sn.uint64, device=device) for n in (8, 1))
    sn.launch(publish, dim=1, inputs=[sums, flag, slot, latest, 22, 7, 2817], device=device)
    total = int(np.sum(words[-SUMS:], dtype=np.uint64))
    assert slot.numpy().tolist() == ([7] * 8 if stopped else [22, 7, total, 7, 7, 7, 7, 7])
    assert latest.numpy().tolist() == [7 if stopped else 2817]


@sn.kernel
def count(x: sn.array[float], allowed: sn.array[int], y: sn.array[float]):
    i = sn.tid()
    assert allowed[0] == 1
    y[i] = x[i] + 1.0


class Counting(Plant):
    allowed = sn.input(int, shape=1)
    seen = sn.state(float, shape=700, publish="host")
    both = sn.state(float, shape=5, publish="both")
    own = sn.state(float, shape=3)

    def build(self, plan, _dt):
        for x in (self.seen, self.both, self.own):
            plan.launch(count, dim=x.shape, inputs=[x, self.allowed], outputs=[x.next])


@pytest.fixture
def publisher(device):
    plant = Counting()
    with Publisher(
        plant.host_layout, plant.input_layout, device_layout=plant.device_layout, device=device
    ) as publisher:
        yield publisher


@pytest.fixture
def stepper(publisher, device):
    return Stepper(Counting(), dt_ns=1_000_000, ring=publisher.ring, slots=publisher.exported, device=device)


@GPUS
@pytest.mark.parametrize("substeps", [1, 2])
def test_a_tick_has_the_hash_and_the_bits_of_the_host(publisher, device, substeps):
    stepper = Stepper(
        Counting(), dt_ns=1_000_000, substeps=substeps, ring=publisher.ring, slots=publisher.exported, device=device
    )
    host = Stepper(Counting(), dt_ns=1_000_000, substeps=substeps)
    for each in (stepper, host):
        each.set("allowed", 1)
    with Subscriber(publisher) as subscriber:
        for _ in range(9):
            stepper.tick()
            host.tick()
            assert stepper.hashes().tolist() == host.hashes().tolist()
            with subscriber.next() as tick:
                assert (tick.step, tick.hash) == (host.step, int(host.hashes().sum()))
                assert tick["seen"].tolist() == [float(substeps * tick.step)] * 700
                assert tick["both"].tolist() == [float(substeps * tick.step)] * 5
    assert stepper.copies_per_tick == 1


@GPUS
def test_nothing_is_committed_of_a_tick_in_which_a_thread_stopped_itself(publisher, stepper):
    with Subscriber(publisher) as subscriber:
        stepper.set("allowed", 1)
        stepper.tick(2)
        stepper.set("allowed", 0)
        for _ in range(3):
            with pytest.raises(KernelError):
                stepper.tick()
        with subscriber.next() as tick:
            assert (tick.step, stepper.step) == (2, 2)
        stepper.set("allowed", 1)
        stepper.tick(4)
        with subscriber.next() as tick:
            assert (tick.step, tick.skipped, tick["seen"][0]) == (6, 3, 6.0)


@GPUS
def test_what_nobody_can_see_is_dropped(publisher, stepper):
    stepper.set("allowed", 1)
    with Subscriber(publisher) as subscriber, ExitStack() as held:
        for step in range(1, 9):
            stepper.tick()
            if step < 5:
                assert held.enter_context(subscriber.next()).step == step
        with pytest.raises(RingError), subscriber.next(timeout=0.01):
            pass
        assert publisher.ring.dropped > 0
        held.close()
        stepper.tick()
        with subscriber.next() as tick:
            assert (tick.step, tick["seen"][0]) == (9, 9.0)


class Waits(list):
    """What waits for the GPU are to answer: nothing; it notes which step the ring shows when each begins."""

    def __init__(self, ring):
        super().__init__()
        self.ring, self.steps = ring, []

    def __bool__(self):
        self.steps.append(self.ring.newest[1])
        return False


def test_a_tick_is_committed_when_the_host_begins_to_wait_for_it(simulate):
    gpu, plant = simulate(), Counting()
    layouts = plant.host_layout, plant.input_layout
    with Publisher(*layouts, device_layout=plant.device_layout, device=gpu.device) as publisher:
        stepper = Stepper(plant, dt_ns=1_000_000, ring=publisher.ring, slots=publisher.exported, device=gpu.device)
        stepper.set("allowed", 1)
        gpu.driver.failing = waits = Waits(publisher.ring)
        stepper.tick(3)
        assert waits.steps == [1, 2, 3]
