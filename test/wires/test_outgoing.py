from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim_node.wires.outgoing import Outgoing

MS = 1_000_000


@pytest.fixture
def outgoing(wiring, outputs):
    """Make the message Wheels with a cycle and a phase in ms."""

    def make(cycle=10, phase=0):
        made = Outgoing(replace(wiring.sent[0], cycle_ns=cycle * MS, phase_ns=phase * MS))
        made.bind(outputs)
        return made

    return make


def test_it_goes_out_once_a_multiple_of_its_cycle(outgoing, outputs):
    message = outgoing()
    assert [ms for ms in range(1, 41) if message.due(ms * MS)] == [10, 20, 30, 40]
    message.bind(outputs)
    assert [ms for ms in range(30) if message.due(ms * MS)] == [0, 10, 20]
    assert message.counts.late == 0


def test_a_phase_shifts_it(outgoing):
    message = outgoing(phase=3)
    assert [ms for ms in range(30) if message.due(ms * MS)] == [3, 13, 23]


def test_ticks_that_are_further_apart_than_its_cycle_are_counted(outgoing):
    message = outgoing()
    assert [ms for ms in (0, 5, 35, 39, 40) if message.due(ms * MS)] == [0, 35, 40]
    assert message.counts.late == 2  # those of 20 and 30; 10's came in 35


def test_without_a_cycle_it_goes_out_with_each_tick(outgoing):
    message = outgoing(cycle=0)
    assert all(message.due(stamp) for stamp in (0, 1, 1, 2))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 100))
def test_it_never_drifts(outgoing, cycle, dt, start):
    """Whatever the tick is, as many go out as cycles have come, but for those that share a tick."""
    message = outgoing(cycle)
    stamps = range(start * MS, (start + 500) * MS, dt * MS)
    sent = sum(message.due(stamp) for stamp in stamps)
    multiples = sum(1 for ms in range(start, stamps[-1] // MS + 1) if ms % cycle == 0)
    assert sent + message.counts.late == multiples


def test_it_says_what_the_tick_has(outgoing):
    message = outgoing()
    values = {"speed": np.array([12.34, 500.0], np.float32)}
    read = message.sent.coding.message.decode(message.content(values.__getitem__))
    assert (read["Left"], read["Right"], read["Gear"], read["Alive"]) == (12.34, 1001.0, "Drive", 0)
    assert message.counts.saturated == 0
    message.counts.sent = 15
    read = message.sent.coding.message.decode(message.content({"speed": np.array([200.0, np.nan])}.__getitem__))
    assert (read["Left"], read["Right"], read["Alive"], message.counts.saturated) == (100.0, -50.0, 0, 2)
