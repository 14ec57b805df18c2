"""A kernel that stops itself in one run leaves nothing of that in the next, on any device."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from devices import COMPILED

import sim_node as sn
from sim_node.errors import KernelError
from sim_node.plant import Plant, Stepper

F32 = sn.array(dtype=sn.float32)


@sn.kernel
def reach(ahead: sn.array(dtype=sn.int32), x: F32, y: F32):
    i = sn.tid()
    print("thread", i)
    y[i] = x[i] + x[i + ahead[0]]


@sn.kernel
def follow(x: F32, y: F32):
    i = sn.tid()
    y[i] = 0.5 * x[i]


class Reaching(Plant):
    """Reads beside what it should where its input says so; one state is seen, one is not."""

    ahead = sn.input(sn.int32, initial=0)
    seen = sn.state(sn.float32, shape=9, publish=True)
    hidden = sn.state(sn.float32, shape=9)
    half = sn.output(sn.float32, shape=9)

    def initial(self, seed):
        values = np.random.default_rng(seed).random((2, 9), np.float32)
        return {"seen": values[0], "hidden": values[1]}

    def build(self, plan, dt):
        plan.launch(reach, 9, [self.ahead, self.hidden], [self.seen.next])
        plan.launch(follow, 9, [self.seen.next], [self.hidden.next])
        plan.launch(follow, 9, [self.hidden.next], [self.half])


def said(error):
    """What an error tells, but for the line of this file."""
    return error.what, error.kernel, error.thread, str(error.location)


@pytest.mark.parametrize("substeps", [1, 2, 3])
@COMPILED
def test_a_plant_after_a_failed_tick_and_a_reset(device, substeps, capsys):
    told = []
    for place in ("cpu", device):
        stepper = Stepper(Reaching(), dt_ns=1000, substeps=substeps, seed=4, device=place)
        before = stepper.keyframe().state, stepper.hashes().tolist()
        stepper.set("ahead", 3)
        with pytest.raises(
            KernelError, match=r"tick 1 of Reaching: index 9 is outside array 'x' of length 9"
        ) as caught:
            stepper.tick(2)
        assert (stepper.keyframe().state, stepper.hashes().tolist(), stepper.step) == (*before, 0)
        told.append([said(caught.value), capsys.readouterr().out.splitlines()])
        stepper.reset()
        assert (stepper.keyframe().state, stepper.hashes().tolist()) == before
        stepper.set("ahead", 0)
        for _ in range(2):
            stepper.tick()
            told[-1] += [stepper.keyframe().state, stepper.hashes().tolist(), capsys.readouterr().out]
        stepper.set("ahead", -1)  # and without a reset
        with pytest.raises(KernelError) as caught:
            stepper.tick()
        stepper.set("ahead", 0)
        stepper.tick()
        told[-1] += [said(caught.value), stepper.step, stepper.hashes().tolist(), capsys.readouterr().out]
    assert told[0][1] == [f"thread {i}" for i in range(7)]
    assert told[0] == told[1]


@COMPILED
def test_launches_and_plans_after_one_that_failed(device, capsys):
    told = []
    for place in ("cpu", device):
        x, y, z = (sn.array(np.arange(9, dtype=np.float32), device=place) for _ in range(3))
        ahead = sn.zeros(1, dtype=sn.int32, device=place)
        plan = sn.Plan(place)
        plan.launch(reach, 9, [ahead, x], [y])
        plan.launch(follow, 9, [y], [z])
        plan.freeze()
        told.append([])
        for far in (2, 0, 9, 0):
            ahead.fill_(far)
            for run in (plan.run, partial(sn.launch, reach, 9, [ahead, x], [y], device=place)):
                try:
                    run()
                    told[-1].append([z.numpy().tolist(), y.numpy().tolist()])
                except KernelError as error:
                    told[-1].append(said(error))
                told[-1].append(capsys.readouterr().out)
    assert sum(isinstance(one, tuple) for one in told[0]) == 4
    assert told[0] == told[1]
