"""The pace of the loop. Lockstep: a plant with a delay line, whose controllers are processes."""

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import sim_node as sn
from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import PlantError
from sim_node.plant import Stepper
from sim_node.plant.pace import Pace, select

ROOT = Path(__file__).resolve().parents[2]
IN_C = ROOT / "test" / "native" / "ring_controller.c"
LIMIT_NS = 60_000_000_000
IN_PYTHON = """
import sys
from sim_node.bridge import Subscriber

with Subscriber(sys.argv[1], timeout=60.0) as ring:
    print("ready", flush=True)
    for _ in range(int(sys.argv[2])):
        with ring.next(60.0) as tick:
            ring.send("valve", 2 * float(tick["level"]))
"""


@sn.kernel
def shift(
    level: sn.array(dtype=sn.float64),
    line: sn.array(dtype=sn.float64),
    valve: sn.array(dtype=sn.float64),
    level_next: sn.array(dtype=sn.float64),
    line_next: sn.array(dtype=sn.float64),
):
    i = sn.tid()
    if i == 0:
        level_next[0] = level[0] + sn.float64(1)
        line_next[0] = valve[0]
    else:
        line_next[i] = line[i - 1]


class DelayLine(sn.Plant):
    """Counts its ticks, and keeps the commands of the last eight."""

    valve = sn.input(sn.float64, initial=-1.0)
    other = sn.input(sn.float32, shape=3, initial=4.0)
    level = sn.state(sn.float64, publish=True)
    line = sn.state(sn.float64, shape=8)

    def build(self, plan, dt):
        plan.launch(shift, dim=8, inputs=[self.level, self.line, self.valve], outputs=[self.level.next, self.line.next])


@pytest.fixture
def rig(cache):
    """Make a stepper with a ring of that name."""
    with ExitStack() as stack:

        def make(name=None):
            plant = DelayLine()
            publisher = stack.enter_context(Publisher(plant.layout, plant.input_layout, name))
            return publisher, Stepper(plant, dt_ns=1_000_000, ring=publisher.ring)

        yield make


@pytest.fixture(params=["python", "c"])
def controller(request, tmp_path):
    """Start a process that sends twice the level to the valve."""
    words = [sys.executable, "-c", IN_PYTHON]
    if request.param == "c":
        compiler = shutil.which("cc") or pytest.skip("no C compiler")
        words = [str(tmp_path / "controller")]
        folders = [f"-I{ROOT / folder}" for folder in ("include", "src")]
        subprocess.run([compiler, "-D_GNU_SOURCE", *folders, str(IN_C), "-o", *words], check=True)
    with ExitStack() as stack:

        def start(name, ticks):
            more = [str(ticks)] if request.param == "python" else []
            child = subprocess.Popen([*words, name, *more], stdout=subprocess.PIPE, text=True)
            stack.enter_context(child)
            stack.callback(child.kill)
            assert child.stdout.readline() == "ready\n"
            return child

        yield start


def applied(records, name="valve"):
    """The value of an input in each tick."""
    field = DelayLine().input_layout[name]
    return [field.view(row.copy()).item() for row in records.inputs]


def test_a_command_that_answers_a_tick_acts_on_the_next(rig, controller):
    name, ticks = f"lockstep_{os.getpid()}", 300
    publisher, stepper = rig(name)
    child = controller(name, ticks)
    ending = stepper.run(1, clock="lockstep", inputs=["valve"], limit_ns=LIMIT_NS, ticks=ticks)
    assert ending == "done"
    assert stepper.get("line").tolist() == [2.0 * (ticks - 1 - back) for back in range(8)]
    records = stepper.drain()
    assert applied(records) == [2.0 * tick for tick in range(ticks)]
    assert not records.unanswered.any()
    told = stepper.statistics()
    assert (told["delay_ticks"].count, told["delay_ticks"].max) == (ticks, 1)
    assert told["answer_time"].count == ticks
    assert stepper.counters()["unanswered"] == 0
    publisher.close()
    assert child.wait(60) == 0


@pytest.mark.parametrize(("miss", "held"), [("hold", 2.0), ("zero", 0.0)])
def test_a_miss_is_counted_stamped_and_recorded(rig, miss, held):
    publisher, stepper = rig()
    lockstep = {"clock": "lockstep", "inputs": ["valve"], "limit_ns": 1_000_000, "miss": miss}
    keyframe = stepper.keyframe()
    with Subscriber(publisher) as controller:
        for tick in range(6):
            controller.latest().release()
            if tick != 2:
                controller.send("valve", float(tick + 1))
            if tick == 4:  # a command for tick 2 comes now, and is not applied to any
                controller.send("valve", 99.0, answers=2)
            stepper.run(1, ticks=1, **lockstep)
    records = stepper.drain()
    assert applied(records) == [1.0, 2.0, held, 4.0, {"hold": 4.0, "zero": 0.0}[miss], 6.0]
    assert records.unanswered.tolist() == [0, 0, 1, 0, 1, 0]
    assert stepper.answers() == {
        "valve": {"unanswered": 2, "unanswered_step": 5, "late": 1},
        "other": {"unanswered": 0, "unanswered_step": 0, "late": 0},
    }
    assert stepper.counters()["unanswered"] == 2
    again = Stepper(DelayLine(), dt_ns=1_000_000)
    again.restore(keyframe)
    assert np.array_equal(again.replay(records.inputs).hashes, records.hashes)


def test_without_an_answer_it_can_stop(rig):
    publisher, stepper = rig()
    with Subscriber(publisher) as controller:
        controller.latest().release()
        controller.send("valve", 1.0)
        with pytest.raises(PlantError, match="DelayLine: no answer to tick 0 on 'other' within 2 ms"):
            stepper.run(1, clock="lockstep", limit_ns=2_000_000, miss="stop")
    assert stepper.step == 0
    assert stepper.answers()["other"] == {"unanswered": 1, "unanswered_step": 1, "late": 0}


def test_what_is_not_waited_for_comes_when_it_comes(rig):
    publisher, stepper = rig()
    with Subscriber(publisher) as controller:
        controller.send("other", np.full(3, 9.0, np.float32))  # answers no tick
        controller.latest().release()
        controller.send("valve", 1.0)
        stepper.run(1, clock="lockstep", inputs=["valve"], limit_ns=LIMIT_NS, ticks=1)
    assert stepper.get("other").tolist() == [9.0] * 3


def test_a_late_tick_ends_a_loop_that_is_to_stop(rig):
    _, stepper = rig()
    with pytest.raises(PlantError, match=r"DelayLine: tick \d+ is late by more than its period of 1e-06 ms"):
        stepper.run(1, overrun="stop")


def test_what_is_caught_up_is_bounded(rig):
    _, stepper = rig()
    assert stepper.run(1, overrun="catch_up", catch_up=3, ticks=40) == "done"
    assert stepper.counters()["skipped"] >= 9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clock": "timer"}, "no clock 'timer'"),
        ({"overrun": "skipp"}, "no overrun 'skipp'; did you mean 'skip'"),
        ({"miss": "helt"}, "no miss 'helt'; there are hold, zero, stop"),
        ({"inputs": ["valv"]}, "no input 'valv'; did you mean 'valve'"),
        ({"limit_ns": 0}, "a limit of 0 ns for answers is not possible"),
        ({"spin_ns": -1}, "a period of 1 ns, -1 ns of it spun, is not possible"),
        ({"clock": "lockstep", "inputs": []}, "the lockstep clock has no input to wait for"),
    ],
)
def test_a_pace_that_is_not_possible(options, message):
    with pytest.raises(PlantError, match=f"Pump: {message}"):
        Pace(1, **options).native("Pump", ["valve"], ["valve"])


def test_names_of_bits():
    assert select(["a", "b", "c"], 0b101) == ["a", "c"]
