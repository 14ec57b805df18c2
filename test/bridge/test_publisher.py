from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import RingError
from sim_node.layout import Layout


def test_slots_are_aligned_and_the_one_last_committed_is_left_alone(states):
    with Publisher(states, slots=2) as publisher:
        seen = []
        for step in range(6):
            slot = publisher.next()
            assert slot["position"].ctypes.data % 64 == 0
            assert not seen or slot.index != seen[-1]
            slot.commit(step, step)
            seen.append(slot.index)
        assert set(seen) == {0, 1}


def test_a_slot_left_without_commit_is_not_published(states):
    with Publisher(states) as publisher, Subscriber(publisher) as subscriber:
        with publisher.next() as slot:
            slot["level"][...] = 1
        assert subscriber.latest() is None
        with pytest.raises(ValueError, match="not the one that next"):
            publisher.ring.commit(3, 0, 0, 0)


def test_commands_are_taken_once(states, inputs):
    with Publisher(states, inputs) as publisher, Subscriber(publisher) as subscriber:
        assert publisher.take("mode") is None
        subscriber.send("mode", 3)
        subscriber.send("mode", 4)
        assert publisher.take("mode") == 4
        assert publisher.take("mode") is None
        with pytest.raises(KeyError, match="no field 'speed'"):
            publisher.take("speed")


@pytest.mark.parametrize("limit", [-1.0, float("nan"), 1e9])
def test_a_limit_of_leases_that_is_none_is_refused(states, limit):
    with pytest.raises(RingError, match=r"a lease lasts 0 \(for ever\) to 1e9 seconds, not"):
        Publisher(states, lease_limit=limit)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ssssltttp"), st.integers(0, 3), st.integers(-1, 1)), max_size=60))
def test_the_writer_in_charge_is_chosen_by_the_rule(actions):
    """s: send, l: leave, p: take a priority, t: tick; beside it the rule, in the order of ring.h's words."""
    silence, value = 3, Layout.of([("value", dtypes.int64, (), "")])
    with ExitStack() as stack:
        publisher = stack.enter_context(Publisher(value, value, silence=silence))
        writers = [stack.enter_context(Subscriber(publisher)) for _ in range(4)]
        lanes, priority = [None] * 4, [0] * 4
        fresh, said = {}, {}  # lane → writer, priority and command; writer, priority and tick
        charge, step = None, 0
        for number, (action, who, given_priority) in enumerate(actions):
            if action in "sp" and who not in lanes:
                lanes[lanes.index(None)] = who
                writers[who].claim("value", priority[who])
            if action == "p":
                priority[who] = given_priority
                writers[who].claim("value", given_priority)
            elif action == "s":
                writers[who].send("value", number)
                fresh[lanes.index(who)] = who, priority[who], number
            elif action == "l":
                writers[who].leave("value")
                lanes = [None if lane == who else lane for lane in lanes]
            else:
                step += 1
                said |= {lane: (*command[:2], step) for lane, command in fresh.items()}
                able = [
                    (rank, writer == charge, -lane)
                    for lane, (writer, rank, heard) in said.items()
                    if lane in fresh or (lanes[lane] == writer and step - heard < silence)
                ]
                expected = None
                if fresh:
                    lane = -max(able)[2]
                    charge, expected = said[lane][0], fresh.get(lane, (None,))[-1]
                assert publisher.take("value") == expected
                publisher.next().commit(step, step)
                fresh = {}


def test_rules_of_inputs_are_checked(states, inputs):
    with pytest.raises(RingError, match="no input 'speed' to be exclusive; there are force, mode"):
        Publisher(states, inputs, exclusive=["speed"])
    for silence in (0, 2**32):
        with pytest.raises(RingError, match=f"silent after at least 1 tick and less than 2\\^32, not {silence}"):
            Publisher(states, inputs, silence=silence)


@pytest.mark.parametrize("slots", [0, 1, 65, -1, 2**80])
def test_a_number_of_slots_outside_the_limits_is_refused(states, slots):
    with pytest.raises(RingError, match="cannot be laid out"):
        Publisher(states, slots=slots)


def test_too_many_inputs_are_refused(states):
    many = Layout.of([(f"i{i}", dtypes.float32, (), "") for i in range(65)])
    with pytest.raises(RingError, match="more than 64 inputs"):
        Publisher(states, many)


@pytest.mark.parametrize("shared", [True, False])
def test_a_state_larger_than_memory_is_refused_with_the_numbers(shared, name):
    huge = Layout.of([("x", dtypes.float64, (2**40,), "")])
    with pytest.raises(RingError, match=rf"needs {6 * 2**43}\d* bytes|needs \d+ bytes") as caught:
        Publisher(huge, name=name if shared else None)
    assert "bytes free" in str(caught.value) or "bytes of memory free" in str(caught.value)


def test_only_who_made_the_ring_writes_it(states, name):
    with Publisher(states, name=name), Subscriber(name) as subscriber, pytest.raises(ValueError, match="only who made"):
        subscriber._segment.ring.next()


def test_starved_of_slots_it_goes_on_and_counts(states):
    with Publisher(states, slots=3) as publisher, Subscriber(publisher) as subscriber:
        held = []
        for step in range(3):
            publisher.next().commit(step, step)
            held.append(subscriber.next())
        for step in range(3, 8):
            slot = publisher.next()
            slot["position"][:] = step
            slot.commit(step, step)
        assert publisher.ring.dropped == 5
        assert [tick.step for tick in held] == [0, 1, 2]
        held.pop(0).release()
        publisher.next().commit(8, 8)
        with subscriber.next() as tick:
            assert (tick.step, tick.skipped) == (8, 5)
            assert np.all(held[0]["position"] == 0)
