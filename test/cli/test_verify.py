"""``sim-node verify``: what a person and a program are told."""

import numpy as np

from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.writer import BagWriter


def altered(bag, change):
    """Copy a bag with ``change`` applied to each record's message."""
    path = bag.with_name("altered.mcap")
    with BagWriter(path, force=True) as writer:
        for entry in Bag(bag):
            message = messages.deserialise(entry.raw, entry.type)
            if entry.type == messages.RECORD:
                message.inputs, message.hashes = np.array(message.inputs), np.array(message.hashes)
                change(message)
            writer.write(entry.topic, entry.type, entry.stamp_ns, messages.serialise(message, entry.type))
    return path


def flip_input_of_tick_150(message):
    if message.first_step <= 150 < message.first_step + message.count:
        message.inputs[(150 - message.first_step) * message.input_bytes] ^= 1


def test_json_has_the_stable_keys(sim_node, bag):
    said = sim_node("verify", bag, "--json")
    assert said.code == 0
    assert said.object["ticks"] == said.object["verified"] == 300
    assert said.object.keys() >= {"ticks", "verified", "diverged", "first_divergence", "device"}


def test_a_flipped_bit_is_told_with_its_tick(sim_node, bag):
    changed = altered(bag, flip_input_of_tick_150)
    said = sim_node("verify", changed, "--json")
    first = said.object["first_divergence"]
    assert said.code == 1
    assert first.keys() >= {"tick", "field", "index", "recorded", "computed", "ulp"}
    assert (first["tick"], first["field"]) == (150, "force")
    people = sim_node("verify", changed)
    assert people.code == 1
    assert "DIVERGED" in people.out
    assert "tick 150, field 'force'" in people.out


def test_unverifiable_ticks_are_named(sim_node, bag, tmp_path):
    with BagWriter(tmp_path / "late.mcap") as writer:
        for entry in Bag(bag):
            if entry.type == messages.RECORD or entry.stamp_ns == 100_000_000:
                writer.write(entry.topic, entry.type, entry.stamp_ns, entry.raw)
    said = sim_node("verify", tmp_path / "late.mcap")
    assert said.code == 0
    assert "ticks 1 to 100 not verified: no keyframe before them" in said.err


def test_another_plant_can_be_tried(sim_node, bag, plant):
    other = plant.with_name("other.py")
    other.write_text(plant.read_text().replace("dt * (force[i] - k * x[i])", "dt * (force[i] + k * x[i])"))
    said = sim_node("verify", bag, "--plant", other, "--json")
    assert said.code == 1
    assert said.object["plan_changed"]
    assert (said.object["first_divergence"]["tick"], said.object["first_divergence"]["field"]) == (1, "x")
    assert said.object["first_divergence"]["ulp"] > 0


def test_a_plant_verifies_on_both_devices_whichever_recorded_it(sim_node, bag, tmp_path):
    recorded = tmp_path / "python.mcap"
    plant = ("sim_node.kernels.quarter_car:QuarterCar", "--offline", "--seconds", "0.2", "--input", "force=300.0")
    said = sim_node("run", *plant, "--bag", recorded, "--device", "python", "--json")
    assert said.object["ticks"] == 200
    for path, ticks in ((bag, 300), (recorded, 200)):
        for device in ("cpu", "python"):
            said = sim_node("verify", path, "--device", device, "--json")
            assert (said.code, said.object["verified"], said.object["diverged"]) == (0, ticks, 0)
            assert said.object["device"] == device
            assert not said.object["plan_changed"]
