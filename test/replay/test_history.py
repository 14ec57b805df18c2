"""Histories computed again out of a bag are those of the run."""

import numpy as np
import pytest

from sim_node.errors import BagError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.replay import history, messages
from sim_node.replay.bag import Bag
from sim_node.replay.record import record_offline
from sim_node.replay.writer import BagWriter

NAMES = ("body", "distance", "force")


def test_equals_the_run(tmp_path):
    forces = np.linspace(-500, 500, 80, dtype=np.float32).reshape(20, 4)
    with BagWriter(tmp_path / "b.mcap", "mcap") as writer:
        recorded = Stepper(QuarterCar(), dt_ns=1_000_000)
        record_offline(recorded, writer, name="car", ticks=50, inputs={"force": forces})
    found = history.of_bag(tmp_path / "b.mcap", NAMES)
    np.testing.assert_allclose(found.seconds, np.arange(1, 51) * 1e-3)
    stepper = Stepper(QuarterCar(), dt_ns=1_000_000)
    for tick in range(50):
        stepper.set("force", forces[min(tick, 19)])
        stepper.tick()
        for name in NAMES:
            np.testing.assert_array_equal(found.values[name][tick], stepper.get(name))


def test_no_keyframe_no_history(tmp_path):
    with BagWriter(tmp_path / "empty.mcap", "mcap"):
        pass
    with pytest.raises(BagError, match="no keyframe to start from"):
        history.of_bag(tmp_path / "empty.mcap", NAMES)


def test_records_that_arrived_before_their_keyframe_count(tmp_path):
    with BagWriter(tmp_path / "b.mcap", "mcap") as writer:
        record_offline(Stepper(QuarterCar(), dt_ns=1_000_000), writer, name="car", ticks=50)
    entries = sorted(Bag(tmp_path / "b.mcap"), key=lambda entry: entry.type == messages.KEYFRAME)
    assert entries[0].type == messages.RECORD
    with BagWriter(tmp_path / "late.mcap", "mcap") as writer:
        for stamp, entry in enumerate(entries):
            writer.write(entry.topic, entry.type, stamp, entry.raw)
    late, whole = (history.of_bag(tmp_path / f"{name}.mcap", NAMES) for name in ("late", "b"))
    assert len(late.seconds) == 50
    for name in NAMES:
        np.testing.assert_array_equal(late.values[name], whole.values[name])


def test_missing_records_are_named(tmp_path):
    with BagWriter(tmp_path / "b.mcap", "mcap") as writer:
        record_offline(Stepper(QuarterCar(), dt_ns=1_000_000), writer, name="car", ticks=5000)
    entries = list(Bag(tmp_path / "b.mcap"))
    second = [entry for entry in entries if entry.type == messages.RECORD][1]
    with BagWriter(tmp_path / "gap.mcap", "mcap") as writer:
        for stamp, entry in enumerate(entries):
            if entry is not second:
                writer.write(entry.topic, entry.type, stamp, entry.raw)
    with pytest.raises(BagError, match=r"records before tick \d+ are missing"):
        history.of_bag(tmp_path / "gap.mcap", NAMES)
