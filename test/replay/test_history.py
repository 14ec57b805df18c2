"""Histories computed again out of a bag are those of the run."""

import numpy as np
import pytest

from sim_node.errors import BagError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper
from sim_node.replay import history
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


def test_a_keyframe_recorded_after_its_records_counts_too(tmp_path):
    with BagWriter(tmp_path / "b.mcap", "mcap") as writer:
        record_offline(Stepper(QuarterCar(), dt_ns=1_000_000), writer, name="car", ticks=700, keyframe_every=300)
    entries = sorted(Bag(tmp_path / "b.mcap"), key=lambda entry: entry.type, reverse=True)
    with BagWriter(tmp_path / "late.mcap", "mcap") as writer:
        for entry in entries:
            writer.write(entry.topic, entry.type, 5, entry.raw)
            writer.write("/other" + entry.topic, entry.type, 5, entry.raw)  # of another plant
    wanted, found = (history.of_bag(tmp_path / name, NAMES) for name in ("b.mcap", "late.mcap"))
    assert len(found.seconds) == 700
    np.testing.assert_array_equal(found.values["body"], wanted.values["body"])


def test_missing_records_no_history(tmp_path):
    with BagWriter(tmp_path / "b.mcap", "mcap") as writer:
        record_offline(Stepper(QuarterCar(), dt_ns=1_000_000), writer, name="car", ticks=1200)
    entries = list(Bag(tmp_path / "b.mcap"))
    with BagWriter(tmp_path / "torn.mcap", "mcap") as writer:
        for entry in entries[:2] + entries[3:]:
            writer.write(entry.topic, entry.type, entry.stamp_ns, entry.raw)
    with pytest.raises(BagError, match="records before tick 1025 are missing"):
        history.of_bag(tmp_path / "torn.mcap", NAMES)


def test_no_keyframe_no_history(tmp_path):
    with BagWriter(tmp_path / "empty.mcap", "mcap"):
        pass
    with pytest.raises(BagError, match="no keyframe to start from"):
        history.of_bag(tmp_path / "empty.mcap", NAMES)


def test_the_keyframe_may_come_after_the_records(tmp_path):
    """A recorder writes as messages arrive, and two topics keep no order."""
    with BagWriter(tmp_path / "b.mcap", "mcap") as writer:
        record_offline(Stepper(QuarterCar(), dt_ns=1_000_000), writer, name="car", ticks=30)
    entries = list(Bag(tmp_path / "b.mcap"))
    with BagWriter(tmp_path / "turned.mcap", "mcap") as writer:
        for entry in reversed(entries):
            writer.write(entry.topic, entry.type, entry.stamp_ns, entry.raw)
    turned, straight = (history.of_bag(tmp_path / f"{name}.mcap", NAMES) for name in ("turned", "b"))
    np.testing.assert_array_equal(turned.values["body"], straight.values["body"])


def test_missing_records_are_said(tmp_path):
    with BagWriter(tmp_path / "b.mcap", "mcap") as writer:
        stepper = Stepper(QuarterCar(), dt_ns=1_000_000)
        record_offline(stepper, writer, name="car", ticks=1200)
    kept = [entry for i, entry in enumerate(Bag(tmp_path / "b.mcap")) if i != 1]
    assert kept[0].type.endswith("Keyframe")
    with BagWriter(tmp_path / "holed.mcap", "mcap") as writer:
        for entry in kept:
            writer.write(entry.topic, entry.type, entry.stamp_ns, entry.raw)
    with pytest.raises(BagError, match=r"records before tick \d+ are missing"):
        history.of_bag(tmp_path / "holed.mcap", NAMES)
