"""Keyframes and records survive the way through a message."""

import array
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from sim_node.errors import BagError
from sim_node.replay import messages


def through(message, name):
    return messages.deserialise(bytes(messages.serialise(message, name)), name)


def test_a_keyframe_comes_back_as_it_was(spring):
    stepper = spring(seed=3)
    stepper.tick(7)
    keyframe = stepper.keyframe()
    message = through(messages.keyframe_message(keyframe, 5), messages.KEYFRAME)
    assert messages.keyframe_of(message) == (keyframe, 5)
    assert (message.stamp.sec, message.stamp.nanosec) == (0, 7_000_000)


def test_records_come_back_as_they_were(spring):
    stepper = spring()
    stepper.set("force", 2.0)
    stepper.tick(9)
    records = stepper.drain()
    batch = messages.batch_of(through(messages.record_message(records, 5), messages.RECORD))
    assert (batch.generation, batch.records.first_step, batch.records.count) == (5, 1, 9)
    assert (batch.records.hashes == records.hashes).all()
    assert (batch.records.inputs == records.inputs).all()
    assert batch.intact.all()


def test_messages_of_ros_hold_the_same_fields_with_sequences_as_arrays(spring):
    dialect = messages.Dialect(lambda name: SimpleNamespace, messages.ROS.sequence)
    stepper = spring()
    stepper.tick(3)
    keyframe = messages.keyframe_message(stepper.keyframe(), 5, dialect)
    record = messages.record_message(stepper.drain(), 5, dialect)
    assert isinstance(record.hashes, array.array)
    assert record.hashes.typecode == "Q"
    assert keyframe.state.typecode == "B"
    assert messages.keyframe_of(keyframe)[0] == stepper.keyframe()
    assert messages.batch_of(record).intact.all()
    for message, name in ((keyframe, messages.KEYFRAME), (record, messages.RECORD)):
        assert set(vars(message)) == {field for field, _ in messages.store().fielddefs[name][1]}


def test_a_plant_without_inputs_has_records_too(spring):
    stepper = spring()
    stepper.tick(2)
    drained = stepper.drain()
    records = type(drained)(1, 2, drained.hashes, np.zeros((2, 0), np.uint8), drained.unanswered, 0)
    assert (
        messages.batch_of(through(messages.record_message(records, 1), messages.RECORD)).intact.tolist() == [True] * 2
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("layout", "{}", "malformed"),
        ("layout", "[" * 5000, "malformed"),
        ("layout_digest", "0" * 64, "digest"),
        ("state", np.zeros(3, np.uint8), "state of 3 bytes"),
        ("inputs", np.zeros(0, np.uint8), "inputs of 0 bytes"),
    ],
)
def test_keyframes_that_contradict_themselves_are_refused(spring, name, value, words):
    message = messages.keyframe_message(spring().keyframe(), 1)
    setattr(message, name, value)
    with pytest.raises(BagError, match=words):
        messages.keyframe_of(message)


@pytest.mark.parametrize(("name", "value"), [("count", 0), ("count", 4), ("fields", 1), ("input_bytes", 2**31)])
def test_records_that_contradict_themselves_are_refused(spring, name, value):
    stepper = spring()
    stepper.tick(3)
    message = messages.record_message(stepper.drain(), 1)
    setattr(message, name, value)
    with pytest.raises(BagError, match="contradict"):
        messages.batch_of(message)


def test_a_cut_message_is_one_clear_error(spring):
    raw = bytes(messages.serialise(messages.keyframe_message(spring().keyframe(), 1), messages.KEYFRAME))
    for size in (0, 3, 50, len(raw) - 1):
        with pytest.raises(BagError, match="malformed"):
            messages.deserialise(raw[:size], messages.KEYFRAME)


def test_a_stamp_that_does_not_fit_is_refused():
    assert messages.time_message((2**31 - 1) * messages.NS, messages.BAG).sec == 2**31 - 1
    with pytest.raises(BagError, match=r"2\.15e\+09 s of simulated time"):
        messages.time_message(2**31 * messages.NS, messages.BAG)


def test_ticks_without_an_answer_are_named_and_stamped(spring):
    stepper = spring()
    stepper.tick(4)
    records = replace(stepper.drain(), unanswered=np.array([0, 3, 0, 1], np.uint64))
    message = through(messages.unanswered_message(records, 7, 600_000_000), messages.UNANSWERED)
    assert (message.generation, list(message.steps), list(message.inputs)) == (7, [2, 4], [3, 1])
    assert [(stamp.sec, stamp.nanosec) for stamp in message.stamps] == [(1, 200_000_000), (2, 400_000_000)]
