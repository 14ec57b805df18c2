"""What is made and dropped leaves a GPU as it was, also where making it failed half-way."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from devices import GPU

import sim_node as sn
from sim_node.compiler import cache as module
from sim_node.errors import KernelError, PlantError
from sim_node.plant import Plant, Stepper
from sim_node.runtime.trace import Trace

F32 = sn.array(dtype=sn.float32)
TIMES = 200


@sn.kernel
def double(x: F32, y: F32):
    i = sn.tid()
    print("doubling", i)
    y[i] = x[i] * 2.0


@sn.kernel
def half(x: F32, y: F32):
    y[sn.tid()] = 0.5


class Doubling(Plant):
    """A plant with an array of its own, which may be wrong in one way or another."""

    fault = sn.parameter(0)
    seen = sn.state(sn.float32, shape=6, publish=True, initial=1.0)
    hidden = sn.state(sn.float32, shape=6)

    def build(self, plan, dt):
        own = sn.zeros(6, device=plan.device)
        plan.launch(double, 6, [self.seen], [own])
        plan.launch(double, 6, [own], [self.seen.next])
        if self.fault == 1:
            raise RuntimeError("the author's")
        if self.fault == 2:
            return  # the next of hidden is missing
        plan.launch(half, 3 if self.fault == 3 else 6, [own], [self.hidden.next])


def used(gpu):
    """What the driver has handed out and not got back, garbage left aside."""
    gc.collect()
    given = gpu.driver
    held = (given.memory, given.pinned, given.graphs, given.events, given.modules, given.registered)
    return (gpu.device.arena.taken, *map(len, held))


def flat(gpu, make):
    """Do something often, and compare what is used after the first few times with what is in the end."""
    for _ in range(3):
        make()
    before = used(gpu)
    for _ in range(TIMES):
        make()
    assert used(gpu) == before


def test_plans_leave_nothing(simulate, capsys):
    gpu = simulate()

    def make():
        x, y = (sn.zeros(6, device=gpu.device) for _ in range(2))
        plan = sn.Plan(gpu.device, trace=Trace())
        plan.launch(double, 6, [x], [y])
        plan.freeze()
        plan.run()
        unfrozen = sn.Plan(gpu.device)
        unfrozen.launch(double, 6, [y], [x])

    flat(gpu, make)


@pytest.mark.parametrize("fault", [0, 1, 2, 3])
def test_steppers_leave_nothing_whether_they_can_be_made_or_not(simulate, capsys, fault):
    gpu = simulate()

    def make():
        if not fault:
            Stepper(Doubling(), dt_ns=1000, substeps=2, device=gpu.device, trace=Trace()).tick()
            return
        with pytest.raises(PlantError):
            Stepper(Doubling(fault=fault), dt_ns=1000, substeps=2, device=gpu.device)

    flat(gpu, make)


def test_code_is_loaded_once_for_every_kernel_that_is_made_of_it(simulate):
    gpu = simulate()
    x = sn.zeros(6, device=gpu.device)

    def make():
        @sn.kernel
        def shift(x: F32):
            i = sn.tid()
            x[i] = x[i + 1]

        with pytest.raises(KernelError):
            sn.launch(shift, 6, [x], device=gpu.device)
        sn.launch(shift, 2, [x[::2]], device=gpu.device)

    flat(gpu, make)
    assert gpu.driver.calls["cuModuleLoadData"] == 2


def adding(number):
    """Make a kernel like no other."""

    @sn.kernel
    def add(x: sn.array(dtype=sn.int32)):
        x[sn.tid()] += number

    return add


def run(kernel, x, planned=True):
    """Run a kernel, in a plan or alone, and drop it."""
    if not planned:
        sn.launch(kernel, 6, [x], device=x.device)
        return
    plan = sn.Plan(x.device)
    plan.launch(kernel, 6, [x])
    plan.freeze()
    plan.run()


@pytest.mark.parametrize("device", ["simulated", GPU], indirect=True)
def test_code_that_nothing_uses_is_unloaded_but_for_what_was_used_last(device, cache, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 8)
    loaded = weakref.WeakSet()
    monkeypatch.setattr(device, "load", lambda image, load=device.load: loaded.add(made := load(image)) or made)
    x = sn.zeros(6, dtype=sn.int32, device=device)
    kept = adding(-1)
    run(kept, x)
    for number in range(30):
        run(adding(number), x, planned=number % 2 == 0)
        gc.collect()
        assert len(loaded) == min(number + 2, 8 + 1)
    run(kept, x)
    assert x.numpy().tolist() == [sum(range(30)) - 2] * 6


def test_a_graph_ends_before_the_code_that_it_runs_and_that_when_all_has_run(simulate, cache, monkeypatch):
    gpu, ended = simulate(), []
    monkeypatch.setattr(module, "KEPT", 0)
    x = sn.zeros(6, dtype=sn.int32, device=gpu.device)
    run(adding(1), x)
    gc.collect()
    drop = gpu.device.drop
    monkeypatch.setattr(gpu.device, "drop", lambda function, thing: drop(function, thing) or ended.append(function))
    run(adding(2), x)
    gc.collect()
    functions = ("cuGraphExecDestroy", "cuStreamSynchronize", "cuModuleUnload")
    assert [name for name in ended if name in functions] == list(functions)
    assert not gpu.driver.modules


def test_arrays_leave_nothing(simulate):
    gpu = simulate()
    contents = np.ones(100, np.float32)
    before = used(gpu)
    for number in range(100_000):
        made = sn.empty(100 + number % 7, device=gpu.device)
        if number % 100 == 0:
            made = sn.array(contents, device=gpu.device)
            made[:50].assign(made[50:])
    del made
    after = used(gpu)
    assert after[0] == before[0]
    assert after[1] <= before[1] + 1  # one allocation is kept for what comes next
    assert after[2:] == before[2:]
