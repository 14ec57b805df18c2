import os
import threading
import time

import numpy as np
import pytest

from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import PlantError
from sim_node.plant import Stepper

DT_NS = 1_000_000


def test_statistics_since_reset(oscillators):
    stepper = Stepper(oscillators(), dt_ns=DT_NS)
    stepper.tick(10)
    stepper.reset_statistics()
    stepper.tick(4, due_ns=1)  # due when the machine started: late by more than a period
    recent, all_ = (stepper.statistics(since) for since in ("reset", "start"))
    assert (recent["step_time"].count, all_["step_time"].count) == (4, 14)
    assert recent["lateness"].count == all_["lateness"].count == 1
    assert 0 < recent["step_time"].max <= all_["step_time"].max
    assert stepper.counters("reset")["ticks"] == 4
    assert stepper.counters("reset")["misses"] == 1


def test_accounts_begin_where_they_are_made(oscillators):
    stepper = Stepper(oscillators(), dt_ns=DT_NS)
    stepper.tick(10)
    ours = stepper.observe()
    stepper.tick(4)
    stepper.reset_statistics()
    stepper.tick(2)
    counted = [told["ticks"] for told in (stepper.counters(), stepper.counters("reset"), ours.counters("reset"))]
    assert counted == [16, 2, 6]
    assert ours.distributions("reset")["step_time"].count == 6


def test_a_tick_under_way_is_told_with_its_kernel(oscillators):
    stepper = Stepper(oscillators(), dt_ns=DT_NS)
    assert stepper.in_flight() is None
    thread = threading.Thread(target=stepper.run, args=(1,), kwargs={"clock": "free"})
    thread.start()
    seen = set()
    while len(seen) < 2:  # both its kernels
        flight = stepper.in_flight()
        if flight is not None:
            assert 0 < flight[0] <= time.monotonic_ns()
            seen.add(flight[1])
    stepper.stop()
    thread.join()
    assert seen == {"oscillate", "count"}
    assert stepper.in_flight() is None


def test_commands_are_told_of_each_input(oscillators):
    plant = oscillators()
    with Publisher(plant.layout, plant.input_layout) as publisher, Subscriber(publisher) as subscriber:
        stepper = Stepper(plant, dt_ns=DT_NS, ring=publisher.ring)
        for count in range(3):
            with subscriber.next():
                subscriber.send("force", np.zeros(5, np.float32))
            stepper.tick()
            if count == 1:
                stepper.reset_statistics()
        for since, commands in (("start", 3), ("reset", 1)):
            told, all_ = stepper.command_statistics(since), stepper.statistics(since)
            assert told.keys() == {"force"}
            for name in ("command_age", "delay_ticks"):
                assert told["force"][name].count == all_[name].count == commands
                assert told["force"][name].max == all_[name].max > 0
        with pytest.raises(IndexError, match="there is no histogram 6"):
            stepper._native.histogram(6)


def test_what_is_told_since_when(oscillators):
    with pytest.raises(PlantError, match="since 'start' or 'reset', not 'noon'"):
        Stepper(oscillators(), dt_ns=DT_NS).statistics(since="noon")


def test_a_count_that_began_anew_is_told_as_it_is(oscillators):
    stepper = Stepper(oscillators(), dt_ns=DT_NS, record_capacity=1)
    stepper.tick(9)
    stepper.reset_statistics()
    stepper.reset()
    stepper.tick(3)
    assert stepper.counters("reset")["lost"] == 2


def test_what_the_operating_system_refuses_is_told_and_costs_nothing(oscillators):
    stepper = Stepper(oscillators(), dt_ns=DT_NS)
    assert stepper.run(1000, ticks=3, clock="free", priority=1000, affinity=10**6) == "done"
    refusal = os.strerror(22)
    assert stepper.grants == {"priority": refusal, "affinity": refusal, "lock_memory": "not asked"}
    assert stepper.step == 3
