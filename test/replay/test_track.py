"""How records and keyframes of one plant are replayed, whatever their order, gaps and generations."""

import pytest

from sim_node import dtypes
from sim_node.errors import BagError
from sim_node.layout import Layout
from sim_node.replay import messages
from sim_node.replay.verify import verify
from sim_node.replay.writer import BagWriter


def test_the_next_keyframe_names_the_element_that_diverged_and_starts_anew(recording, rewrite, build, spring):
    def change(kind, message):
        if kind == "Keyframe" and message.step == 0:
            spring.state_layout["x"].view(message.state)[1] += 0.25
        return message

    report = verify(rewrite(recording(), change), build=build)
    first = report.first_divergence
    assert (first.tick, first.field, first.index, first.values_tick) == (1, "x", [1], 200)
    assert first.computed - first.recorded == pytest.approx(0.25, abs=0.02)
    assert first.ulp > 1000
    assert (report.diverged, report.verified) == (200, 400)


def test_missing_records_end_a_run_and_the_next_keyframe_starts_another(recording, rewrite, build):
    def lose_ten(kind, message):
        if kind == "Record" and message.first_step == 201:
            message.first_step, message.count = 211, message.count - 10
            message.hashes = message.hashes[10 * message.fields :]
            message.inputs = message.inputs[10 * message.input_bytes :]
            message.input_hashes = message.input_hashes[10:]
        return message

    report = verify(rewrite(recording(), lose_ten), build=build)
    (skip,) = report.skips
    assert (skip.first, skip.last) == (211, 400)
    assert "10 ticks before them are missing" in skip.reason
    assert (report.ticks, report.verified, report.skipped, report.lost) == (590, 400, 190, 10)
    assert report.exit_code == 0


def test_keyframes_recorded_after_their_records_count_too(recording, rewrite, build, tmp_path):
    entries = {"Keyframe": [], "Record": []}

    def sort(kind, message):
        entries[kind].append(message)

    rewrite(recording(), sort)
    with BagWriter(tmp_path / "late.mcap") as writer:
        for kind in ("Record", "Keyframe"):
            for message in entries[kind]:
                name = f"sim_node/msg/{kind}"
                writer.write(f"/spring/{kind.lower()}", name, 5, messages.serialise(message, name))
    report = verify(tmp_path / "late.mcap", build=build)
    assert (report.verified, report.skipped, report.keyframes) == (600, 0, 4)


def test_plants_and_generations_in_one_bag_are_kept_apart(spring, build, tmp_path):
    with BagWriter(tmp_path / "two.mcap") as writer:
        for generation, name in ((1, "a"), (7, "b"), (8, "b"), (9, "b")):
            stepper = spring(gain=generation, seed=generation)
            whole = messages.keyframe_message(stepper.keyframe(), generation)
            stepper.tick(50)
            record = messages.record_message(stepper.drain(), generation)
            if generation != 8:  # the one that started before the recorder
                writer.write(f"/{name}/keyframe", messages.KEYFRAME, 0, messages.serialise(whole, messages.KEYFRAME))
            writer.write(f"/{name}/record", messages.RECORD, 1, messages.serialise(record, messages.RECORD))
    report = verify(tmp_path / "two.mcap", build=build)
    assert (report.topics, report.ticks, report.verified, report.diverged) == (["/a", "/b"], 200, 150, 0)
    assert [(skip.topic, skip.generation, skip.first, skip.last) for skip in report.skips] == [("/b", 8, 1, 50)]
    assert verify(tmp_path / "two.mcap", build=build, topics=["a"]).ticks == 50
    with pytest.raises(BagError, match=r"no records under /c; there are /a, /b"):
        verify(tmp_path / "two.mcap", build=build, topics=["/c"])


def test_a_reset_within_a_generation_starts_a_run(spring, build, tmp_path):
    stepper = spring()
    with BagWriter(tmp_path / "reset.mcap") as writer:
        for ticks in (100, 60):
            stepper.reset()
            whole = messages.keyframe_message(stepper.keyframe(), 1)
            writer.write("/s/keyframe", messages.KEYFRAME, 0, messages.serialise(whole, messages.KEYFRAME))
            stepper.tick(ticks)
            record = messages.record_message(stepper.drain(), 1)
            writer.write("/s/record", messages.RECORD, 1, messages.serialise(record, messages.RECORD))
    report = verify(tmp_path / "reset.mcap", build=build)
    assert (report.ticks, report.verified, report.lost) == (160, 160, 0)


def test_another_plan_of_the_same_layout_is_told_and_compared(recording, build, spring, monkeypatch):
    bag = recording()
    monkeypatch.setattr(spring, "plan_digest", "e" * 64)
    report = verify(bag, build=build)
    assert (report.plan_changed, report.verified, report.exit_code) == (True, 600, 0)
    assert "has changed" in report.notes[0]


def test_another_layout_is_told_and_not_compared(recording, build, spring, monkeypatch):
    bag = recording()
    monkeypatch.setattr(
        spring, "state_layout", Layout.of([("x", dtypes.float32, (3,), "m"), ("v", dtypes.vec3, (3,), "")])
    )
    report = verify(bag, build=build)
    assert (report.plan_changed, report.verified, report.exit_code) == (True, 0, 2)
    assert "layout of the state" in report.fault


def test_a_kernel_that_stops_in_the_replay_is_a_divergence(recording, spring):
    report = verify(recording(), build=lambda keyframe, plant: spring(stop_at=250))
    assert (report.first_divergence.tick, report.diverged, report.exit_code) == (250, 1, 1)
    assert report.verified == 249 + 200
    assert "index 3 is out of bounds" in report.notes[0]
