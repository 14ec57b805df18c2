"""What a bag is said to hold."""

import numpy as np

from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.contents import contents
from sim_node.replay.writer import BagWriter


def test_runs_are_told_by_plant_and_generation(recording, tmp_path):
    with BagWriter(tmp_path / "both.mcap") as writer:
        for name, ticks in (("a", 100), ("b", 300)):
            for entry in Bag(recording(f"{name}.mcap", name=name, ticks=ticks, keyframe_every=100)):
                writer.write(entry.topic, entry.type, entry.stamp_ns, entry.raw)
    found = contents(tmp_path / "both.mcap")
    assert [(run.topic, run.generation, run.ticks, run.first, run.last, run.keyframes) for run in found.runs] == [
        ("/a", 1, 100, 1, 100, 2),
        ("/b", 1, 300, 1, 300, 4),
    ]
    assert {run.plant for run in found.runs} == {"test:Spring"}
    assert (found.storage, found.torn, found.damage) == ("mcap", "", "")


def test_missing_ticks_are_counted(recording, rewrite):
    def drop(kind, message):
        return None if kind == "Record" and message.first_step == 201 else message

    (run,) = contents(rewrite(recording(), drop)).runs
    assert (run.ticks, run.lost) == (400, 200)


def test_what_cannot_be_read_is_told_with_what_can(recording, tmp_path):
    bag = recording(ticks=5000, inputs={"force": np.random.default_rng(0).random((5000, 3))})
    torn = tmp_path / "torn.mcap"
    torn.write_bytes(bag.read_bytes()[:-2000])
    assert contents(torn).torn
    damaged = tmp_path / "damaged.mcap"
    with BagWriter(damaged) as writer:
        for entry in Bag(bag):
            writer.write(entry.topic, entry.type, entry.stamp_ns, entry.raw)
        writer.write("/spring/record", messages.RECORD, 0, b"no message")
    found = contents(damaged)
    assert "malformed" in found.damage
    assert found.runs[0].ticks == 5000
