"""Offline runs: inputs over time, keyframes, ends that come early."""

import signal

import numpy as np
import pytest

from sim_node.errors import KernelError, PlantError
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.record import Timeline, record_offline
from sim_node.replay.verify import verify
from sim_node.replay.writer import BagWriter


def applied(bag):
    """The inputs of each tick, as the bag holds them."""
    rows = [messages.deserialise(e.raw, e.type) for e in Bag(bag) if e.type == messages.RECORD]
    return np.concatenate([messages.batch_of(row).records.inputs for row in rows])


def test_inputs_follow_their_timeline_and_the_last_value_is_held(recording, spring):
    force = np.arange(30, dtype=np.float32).reshape(10, 3)
    bag = recording(ticks=15, keyframe_every=4, inputs={"force": force, "brake": 2})
    field = spring.input_layout["force"]
    found = [field.view(row.tobytes()).tolist() for row in applied(bag)]
    assert found == force.tolist() + [force[-1].tolist()] * 5


@pytest.mark.parametrize("every", [0, 1, 7, 600, 1000])
def test_keyframes_come_at_the_start_and_each_so_many_ticks(recording, build, every):
    report = verify(recording(ticks=60, keyframe_every=every), build=build)
    assert report.keyframes == 1 + (60 // every if every else 0)
    assert report.verified == 60


def test_ctrl_c_leaves_a_whole_bag(spring, tmp_path, build):
    def stop(ticks):
        raise KeyboardInterrupt

    with BagWriter(tmp_path / "short.mcap") as writer:
        done = record_offline(spring(), writer, name="s", ticks=10**9, progress=stop)
    assert done.interrupted
    report = verify(tmp_path / "short.mcap", build=build)
    assert (report.verified, report.torn) == (done.ticks, "")


@pytest.mark.parametrize("at", [1, 3])  # the keyframe at the start, and records
def test_ctrl_c_waits_for_the_message_that_is_being_written(spring, tmp_path, build, monkeypatch, at):
    with BagWriter(tmp_path / "short.mcap") as writer:
        write, numbers = writer._sink.write, iter(range(1, at + 1))

        def interrupted(*message):
            if next(numbers) == at:
                signal.raise_signal(signal.SIGINT)
            write(*message)

        monkeypatch.setattr(writer._sink, "write", interrupted)
        done = record_offline(spring(), writer, name="s", ticks=10**9)
    assert done.interrupted
    assert sum(writer.counts.values()) == at
    report = verify(tmp_path / "short.mcap", build=build)
    assert (report.verified, report.torn) == (done.ticks, "")


def test_what_came_before_a_kernel_stopped_is_written(spring, tmp_path, build):
    with pytest.raises(KernelError), BagWriter(tmp_path / "stopped.mcap") as writer:
        record_offline(spring(stop_at=40), writer, name="s", ticks=100)
    assert verify(tmp_path / "stopped.mcap", build=build).verified == 39


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"thrust": 1}, "no input 'thrust'; there are force, brake"),
        ({"force": [1, 2]}, r"'force' takes f32 of shape \(3,\)"),
        ({"force": "much"}, "'force' takes f32"),
        ({"brake": np.zeros((0,))}, "'brake' takes f64"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(recording, inputs, words):
    with pytest.raises(PlantError, match=words):
        recording(inputs=inputs)


def test_a_number_is_spread_over_the_field(spring):
    line = Timeline.of(spring.input_layout["force"], 3)
    assert line.at(0).tolist() == line.at(99).tolist() == [3.0, 3.0, 3.0]
