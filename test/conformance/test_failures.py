"""A driver that fails is told once, of the run that it failed, and the run after that is like any other."""

from __future__ import annotations

import numpy as np
import pytest

import sim_node as sn
from sim_node import Plan
from sim_node.errors import DriverError, KernelError
from sim_node.plant import Plant, Stepper

F32 = sn.array(dtype=sn.float32)


@sn.kernel
def outside(x: F32, ahead: int, out: F32):
    i = sn.tid()
    out[i] = x[i + ahead]


def test_a_driver_that_gives_up_is_told_with_the_kernel_in_flight(simulate):
    gpu = simulate()
    x, out = sn.ones(4, float, device=gpu.device), sn.zeros(4, float, device=gpu.device)
    sn.launch(outside, 4, [x, 0], [out], device=gpu.device)  # which makes what launches report to
    gpu.driver.failing = [700]
    with pytest.raises(DriverError, match=r"kernel 'outside', launched at .*CUDA_ERROR_ILLEGAL_ADDRESS") as caught:
        sn.launch(outside, 4, [x, 0], [out], device=gpu.device)
    assert "start it again" in str(caught.value)
    assert caught.value.result == "CUDA_ERROR_ILLEGAL_ADDRESS"
    plan = Plan(gpu.device)
    plan.launch(outside, 4, [x, 0], [out])
    plan.freeze()
    gpu.driver.failing = [2]
    with pytest.raises(DriverError, match=r"a plan, whose first launch is at .*CUDA_ERROR_OUT_OF_MEMORY") as caught:
        plan.run()
    assert "start it again" not in str(caught.value)
    plan.run()
    assert out.numpy().tolist() == [1.0] * 4


@sn.kernel
def turn(x: F32, ahead: sn.array(dtype=sn.int32), out: F32):
    i = sn.tid()
    print("at", ahead[0])
    out[i] = x[i + ahead[0]]


def planned(x, ahead, out):
    plan = Plan(x.device)
    plan.launch(turn, 4, [x, ahead], [out])
    plan.freeze()
    return plan.run


def launched(x, ahead, out):
    return lambda: sn.launch(turn, 4, [x, ahead], [out], device=x.device)


@pytest.mark.parametrize("made", [planned, launched])
def test_the_run_after_a_failure_tells_nothing_of_it(simulate, capfd, made):
    gpu = simulate()
    x, out = sn.ones(4, float, device=gpu.device), sn.zeros(4, float, device=gpu.device)
    ahead = sn.zeros(1, dtype=sn.int32, device=gpu.device)
    run = made(x, ahead, out)
    run()
    for stops in (True, False):
        ahead.fill_(100 if stops else 0)
        capfd.readouterr()
        gpu.driver.failing = [2]
        with pytest.raises(DriverError):
            run()
        ahead.fill_(0)
        run()
        assert {line.split()[-1] for line in capfd.readouterr().out.splitlines()} == {"0"}
        ahead.fill_(3)
        with pytest.raises(KernelError, match="index 4 is outside array 'x'") as caught:
            run()
        assert caught.value.thread == 1


class Bare(Plant):
    """No launch, so nothing that a driver's failure could be told of but the plant."""

    speed = sn.input(sn.float32)

    def build(self, plan, dt):
        """Launch nothing."""


class Moving(Plant):
    """Two launches a substep."""

    x = sn.state(sn.float32, shape=4)
    y = sn.state(sn.float32, shape=4)

    def build(self, plan, dt):
        plan.launch(outside, 4, [self.x, 0], [self.y.next])
        plan.launch(outside, 4, [self.y.next, 0], [self.x.next])


PLAN = r", whose first launch is at \S+test_failures.py:\d+ in build"


@pytest.mark.parametrize(
    ("plant", "failing", "act", "told"),
    [
        (Bare, [2], Stepper.tick, "the plan of Bare, which launches nothing"),
        (Moving, [2], Stepper.tick, "the plan of Moving" + PLAN),
        (Moving, [0, 2], lambda stepper: stepper.replay(np.zeros((1, 0)), ["x"]), "the plan of Moving" + PLAN),
        (Moving, [2], Stepper.reset, "the state of Moving"),
        (Moving, [2], Stepper.keyframe, "the state of Moving"),
    ],
)
def test_a_plant_whose_driver_fails_is_named_and_goes_on(simulate, plant, failing, act, told):
    gpu = simulate()
    stepper = Stepper(plant(), dt_ns=10**6, device=gpu.device)
    gpu.driver.failing = failing
    with pytest.raises(DriverError, match=f"^{told}: the CUDA driver answers CUDA_ERROR_OUT_OF_MEMORY"):
        act(stepper)
    step = stepper.step
    stepper.tick()
    assert stepper.step == step + 1
