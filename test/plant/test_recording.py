from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import LaunchError, PlantError
from sim_node.plant import Plant, Stepper


@sn.kernel
def copy(x: sn.array(dtype=sn.float32), y: sn.array(dtype=sn.float32)):
    y[sn.tid()] = x[sn.tid()]


@sn.kernel
def copy_where_positive(x: sn.array(dtype=sn.float32), y: sn.array(dtype=sn.float32)):
    if x[sn.tid()] > 0.0:
        y[sn.tid()] = x[sn.tid()]


@sn.kernel
def accumulate(x: sn.array(dtype=sn.float32), total: sn.array(dtype=sn.float32), y: sn.array(dtype=sn.float32)):
    total[sn.tid()] = total[sn.tid()] + 1.0
    y[sn.tid()] = x[sn.tid()] + total[sn.tid()]


def stepper_of(build):
    class Probed(Plant):
        push = sn.input(sn.float32, shape=4, initial=1.0)
        place = sn.state(sn.float32, shape=4, publish=True, initial=[0.0, 1.0, 2.0, 3.0])
        heat = sn.output(sn.float32, shape=4)

    Probed.build = build
    return Stepper(Probed(), dt_ns=1000)


@sn.kernel
def copy_any(x: sn.array(dtype=Any), y: sn.array(dtype=Any)):
    y[sn.tid()] = x[sn.tid()]


def whole(self, plan, dt, kernel=copy):
    plan.launch(kernel, dim=4, inputs=[self.push], outputs=[self.place.next])
    plan.launch(kernel, dim=4, inputs=[self.place.next], outputs=[self.heat])


@pytest.mark.parametrize("kernel", [copy, copy_any], ids=["of one type", "of any"])
def test_a_next_may_be_read_once_written(kernel):
    stepper = stepper_of(lambda self, plan, dt: whole(self, plan, dt, kernel))
    stepper.tick()
    assert stepper.get("heat").tolist() == [1.0] * 4


def writes_a_value(self, plan, dt):
    plan.launch(copy, dim=4, inputs=[self.push], outputs=[self.place])


def writes_an_input(self, plan, dt):
    plan.launch(copy, dim=4, inputs=[self.place], outputs=[self.push])


def reads_too_early(self, plan, dt):
    plan.launch(copy, dim=4, inputs=[self.heat], outputs=[self.place.next])


def writes_behind_the_back(self, plan, dt):
    plan.launch(copy, dim=4, inputs=[self.push, self.place])


def leaves_an_output_out(self, plan, dt):
    plan.launch(copy, dim=4, inputs=[self.push], outputs=[self.place.next])


def leaves_a_state_out(self, plan, dt):
    plan.launch(copy, dim=4, inputs=[self.push], outputs=[self.heat])


def claims_to_write(self, plan, dt):
    plan.launch(copy, dim=4, inputs=[], outputs=[self.place.next, self.heat])


def writes_a_part(self, plan, dt):
    whole(self, plan, dt)
    plan.launch(copy_where_positive, dim=4, inputs=[self.place], outputs=[self.place.next])


def writes_a_part_only(self, plan, dt):
    plan.launch(copy_where_positive, dim=4, inputs=[self.place], outputs=[self.place.next])
    plan.launch(copy, dim=4, inputs=[self.push], outputs=[self.heat])


def keeps_a_total(self, plan, dt):
    whole(self, plan, dt)
    plan.launch(accumulate, dim=4, inputs=[self.push], outputs=[sn.zeros(4), self.heat])


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (writes_a_value, r"test_recording.py:\d+ in writes_a_value: plant Probed: self.place in outputs is the state's "
                         "value; write self.place.next"),
        (writes_an_input, "self.push in outputs is an input of the plant"),
        (reads_too_early, "self.heat is read before any launch has written it"),
        (writes_behind_the_back, "'copy' writes 'y', but self.place may only be read; write self.place.next instead"),
        (leaves_an_output_out, r"plant Probed: no launch in build\(\) writes self.heat; name it in outputs"),
        (leaves_a_state_out, r"no launch in build\(\) writes self.place.next"),
        (claims_to_write, "self.place.next is in outputs, but kernel 'copy' does not write 'x'; pass it in inputs"),
        (writes_a_part_only, "plant Probed: not every element of the next of 'place' is written in each substep"),
        (keeps_a_total, "'heat' depends on what a run left in an array of the plan's own; make that array a state"),
    ],
)  # fmt: skip
def test_what_a_plan_must_not_do(build, message):
    with pytest.raises(PlantError, match=message):
        stepper_of(build)


def test_writing_a_part_over_the_whole_is_fine():
    stepper = stepper_of(writes_a_part)
    stepper.tick()
    assert stepper.get("place").tolist() == [1.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda self: ([self.push], []), "it takes 2 arguments"),
        (lambda self: ([sn.zeros(4, dtype=int)], [self.place.next]), "argument 'x' expects array<f32>"),
    ],
)
def test_what_does_not_fit_the_kernel(arguments, message):
    def build(self, plan, dt):
        inputs, outputs = arguments(self)
        plan.launch(copy, dim=4, inputs=inputs, outputs=outputs)

    with pytest.raises(LaunchError, match=message):
        stepper_of(build)


@pytest.mark.parametrize("step", [1, 2])
def test_arrays_of_its_own_start_anew_at_reset(step):
    edge = np.array([9.0, 0.0, 0.0, 9.0], np.float32)

    def build(self, plan, dt):
        between = sn.array(np.repeat(edge, step), copy=True)[::step]
        plan.launch(copy_where_positive, dim=4, inputs=[self.push], outputs=[between])
        plan.launch(copy, dim=4, inputs=[between], outputs=[self.place.next])
        plan.launch(copy, dim=4, inputs=[self.place.next], outputs=[self.heat])

    stepper = stepper_of(build)
    stepper.set("push", [0.0, 5.0, 0.0, 5.0])
    stepper.tick()
    stepper.reset()
    stepper.set("push", [0.0, 0.0, 0.0, 0.0])
    stepper.tick()
    assert stepper.get("heat").tolist() == edge.tolist()
