"""What verify proves, and that it finds any bit that is not as recorded."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from devices import COMPILED

from sim_node.device import names
from sim_node.errors import BagError
from sim_node.kernels.quarter_car import QuarterCar
from sim_node.plant import Stepper, reference
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.record import record_offline
from sim_node.replay.verify import verify
from sim_node.replay.writer import BagWriter

BAGS = Path(__file__).parent / "bags"


@pytest.mark.parametrize(
    ("path", "storage"), [("run.mcap", "mcap"), ("folder", "mcap"), ("folder", "sqlite3")], ids=str
)
def test_a_recording_verifies(recording, build, path, storage):
    report = verify(recording(path, storage), build=build)
    assert (report.ticks, report.verified, report.diverged, report.skipped) == (600, 600, 0, 0)
    assert (report.exit_code, report.fault, report.torn, report.keyframes) == (0, "", "", 4)


@pytest.mark.parametrize("path", sorted(BAGS.glob("*_h200.mcap")), ids=lambda path: path.stem)
@COMPILED
def test_a_recording_of_a_gpu_verifies_anywhere(path, device, monkeypatch):
    """Bags that an H200 recorded: their bits are those of every device."""
    monkeypatch.setattr(names, "_HOSTS", {**names._HOSTS, "here": device})
    report = verify(path, device="here")
    assert (report.ticks, report.verified, report.diverged, report.exit_code) == (300, 300, 0, 0)


def test_bags_of_a_gpu_say_so():
    found = [entry for path in BAGS.glob("*") for entry in Bag(path) if entry.type == messages.KEYFRAME]
    assert found
    assert all(b"sm_90+ptx81" in entry.raw for entry in found)


@pytest.mark.parametrize("bit", [0, 7, 16, 30, 31])
def test_a_flipped_bit_in_an_input_is_found(recording, rewrite, build, bit):
    def flip(kind, message):
        if kind == "Record" and message.first_step <= 357 < message.first_step + message.count:
            at = (357 - message.first_step) * message.input_bytes
            message.inputs[at + bit // 8] ^= 1 << bit % 8
        return message

    report = verify(rewrite(recording(), flip), build=build)
    assert report.exit_code == 1
    assert (report.first_divergence.tick, report.first_divergence.field) == (357, "inputs")


def test_a_flipped_bit_in_a_hash_is_found(recording, rewrite, build):
    def flip(kind, message):
        if kind == "Record" and message.first_step <= 123 < message.first_step + message.count:
            message.hashes[(123 - message.first_step) * message.fields + 1] ^= np.uint64(1)
        return message

    report = verify(rewrite(recording(), flip), build=build)
    assert (report.verified, report.diverged) == (599, 1)
    assert (report.first_divergence.tick, report.first_divergence.field) == (123, "v")


def test_a_flipped_bit_in_a_keyframe_is_found_with_element_and_distance(recording, rewrite, build, spring):
    at = spring.state_layout["v"].offset + 4 * (2 * 3 + 1)  # v[2, 1]

    def flip(kind, message):
        if kind == "Keyframe" and message.step == 400:
            message.state[at] ^= 2
        return message

    report = verify(rewrite(recording(), flip), build=build)
    first = report.first_divergence
    assert (first.tick, first.field, first.index, first.ulp, first.values_tick) == (400, "v", [2, 1], 2, 400)
    assert first.recorded != first.computed
    assert report.exit_code == 1
    assert report.verified + report.diverged == 600


def test_a_flipped_bit_in_the_first_keyframe_shows_at_the_first_tick(recording, rewrite, build):
    def flip(kind, message):
        if kind == "Keyframe" and message.step == 0:
            message.state[2] ^= 1
        return message

    report = verify(rewrite(recording(), flip), build=build)
    assert (report.first_divergence.tick, report.first_divergence.field) == (1, "x")


def test_a_state_too_large_for_a_message_replays_from_the_reset_that_seed_and_parameters_define(
    recording, build, monkeypatch, spring
):
    monkeypatch.setattr(messages, "STATE_LIMIT", 10)
    report = verify(recording(spring=spring(gain=3.0, seed=4)), build=build)
    assert (report.keyframes, report.verified, report.diverged) == (1, 600, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reproducible": False}, "not reproducible"),
        ({"state": np.zeros(0, np.uint8), "step": 5}, "no keyframe before"),
    ],
)
def test_a_bag_that_cannot_be_verified_says_why(recording, rewrite, build, change, words):
    def alter(kind, message):
        if kind == "Keyframe":
            if message.step:
                return None
            for name, value in change.items():
                setattr(message, name, value)
        return message

    report = verify(rewrite(recording(), alter), build=build)
    assert (report.exit_code, report.verified, report.skipped) == (2, 0, 600)
    assert words in report.fault


def test_no_keyframe_at_all_is_unusable(recording, rewrite, build):
    report = verify(rewrite(recording(), lambda kind, m: m if kind == "Record" else None), build=build)
    assert report.exit_code == 2
    assert "none of 600 ticks can be verified: no keyframe before them" in report.fault


def test_a_bag_without_records_is_unusable(recording, rewrite, build):
    report = verify(rewrite(recording(), lambda kind, m: m if kind == "Keyframe" else None), build=build)
    assert report.exit_code == 2
    assert "no records" in report.fault


def test_the_plant_can_be_named_anew(recording):
    named = []

    def build(keyframe, plant):
        named.append(plant)
        raise BagError("built")

    with pytest.raises(BagError, match="built"):
        verify(recording(), plant="other:Plant", build=build)
    assert named == ["other:Plant"]


def test_an_unknown_device_is_refused(recording, build):
    with pytest.raises(BagError, match="cpu"):
        verify(recording(), device="cuda:7", build=build)


def test_parameters_that_are_not_json_are_refused(recording, rewrite):
    def alter(kind, message):
        return dataclasses.replace(message, parameters="{") if kind == "Keyframe" else message

    with pytest.raises(BagError, match="not JSON"):
        verify(rewrite(recording(), alter))


def test_a_plant_of_nothing_replays(tmp_path):
    (tmp_path / "nothing.py").write_text(
        "import sim_node as sn\nclass Nothing(sn.Plant):\n    def build(self, plan, dt): ...\n"
    )
    stepper = Stepper(reference(f"{tmp_path}/nothing.py")(), dt_ns=1)
    with BagWriter(tmp_path / "nothing.mcap") as writer:
        record_offline(stepper, writer, name="nothing", ticks=5)
    assert (verify(tmp_path / "nothing.mcap").verified, stepper.step) == (5, 5)


@pytest.mark.parametrize(("path", "storage"), [("a.mcap", "mcap"), ("a", "mcap"), ("a", "sqlite3")], ids=str)
@pytest.mark.parametrize("substeps", [1, 2, 5])
@pytest.mark.parametrize("keyframe_every", [0, 1, 7, 600])
def test_a_plants_run_replays_in_every_storage(tmp_path, path, storage, substeps, keyframe_every):
    stepper = Stepper(QuarterCar(corners=3), dt_ns=999_983, substeps=substeps, seed=2**64 - 1)
    forces = np.random.default_rng(substeps).normal(0, 500, (90, 3)).astype(np.float32)
    with BagWriter(tmp_path / path, storage) as writer:
        record_offline(stepper, writer, name="car", ticks=100, keyframe_every=keyframe_every, inputs={"force": forces})
    report = verify(tmp_path / path)
    assert (report.verified, report.diverged, report.skipped, report.notes) == (100, 0, 0, [])
    assert report.keyframes == 1 + (100 // keyframe_every if keyframe_every else 0)


DRIFT = """
import sim_node as sn

@sn.kernel
def drift(seen: sn.array(dtype=sn.float32), hidden: sn.array(dtype=sn.float32), seen_next: sn.array(dtype=sn.float32),
          hidden_next: sn.array(dtype=sn.float32)):
    i = sn.tid()
    seen_next[i] = seen[i] + SEEN
    hidden_next[i] = hidden[i] + HIDDEN

class Drift(sn.Plant):
    seen = sn.state(sn.float32, shape=2, publish=True, initial=-0.25)
    hidden = sn.state(sn.float32, shape=2, initial=-0.25)

    def build(self, plan, dt):
        plan.launch(drift, dim=2, inputs=[self.seen, self.hidden], outputs=[self.seen.next, self.hidden.next])
"""


@pytest.mark.parametrize("field", ["seen", "hidden"])
def test_a_changed_constant_is_found_in_published_and_private_fields(tmp_path, field):
    file, bag = tmp_path / "drift.py", tmp_path / "drift.mcap"
    one, other = np.float32(0.1), np.float32(0.10001)
    constants = {"seen": one, "hidden": one}

    def write(values):
        file.write_text("".join(f"{name.upper()} = {float(value)!r}\n" for name, value in values.items()) + DRIFT)

    write(constants)
    with BagWriter(bag) as writer:
        record_offline(Stepper(reference(f"{file}:Drift")(), dt_ns=1), writer, name="d", ticks=9, keyframe_every=3)
    write({**constants, field: other})
    report = verify(bag)
    recorded = computed = np.float32(-0.25)
    for _ in range(3):  # across zero
        recorded, computed = recorded + one, computed + other
    first = report.first_divergence
    assert (report.plan_changed, report.exit_code, report.diverged) == (True, 1, 9)
    assert (first.tick, first.field, first.index, first.values_tick) == (1, field, [0], 3)
    assert (first.recorded, first.computed) == (recorded, computed)
    steps, at = 0, recorded
    while at != computed:
        steps, at = steps + 1, np.nextafter(at, computed)
    assert first.ulp == steps > 0
