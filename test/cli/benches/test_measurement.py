"""The shape that a measurement has in JSON, and the statistics in it."""

import numpy as np

from sim_node.cli.benches.measurement import (
    Measurement,
    alternated_ns,
    alternated_us,
    cost_percent,
    per_call_us,
    quantiles,
)


def test_quantiles_are_in_microseconds():
    found = quantiles(np.arange(1, 1001) * 1000)
    assert (found["count"], found["max_us"]) == (1000, 1000.0)
    assert abs(found["p50_us"] - 500.5) < 0.01
    assert abs(found["p99_us"] - 990) < 1


def test_quantiles_of_nothing():
    assert quantiles([]) == {"count": 0}


def test_keys_that_stay():
    measured = Measurement("x", {"a": 1.0}, {"peer": {"absent": "why"}}, {"vs": 2.0}).as_json()
    assert list(measured) == ["name", "machine", "figures", "peers", "ratios"]
    assert measured["peers"]["peer"]["absent"] == "why"


def test_per_call_calls():
    calls = []
    assert per_call_us(lambda: calls.append(1), batches=3, calls=5) > 0
    assert len(calls) == 20


def test_alternated_calls_take_turns():
    calls = []
    times = alternated_us({name: (lambda name=name: calls.append(name)) for name in "abc"}, rounds=4)
    assert set(times) == set("abc")
    assert all(time > 0 for time in times.values())
    assert all(set(calls[at : at + 3]) == set("abc") for at in range(0, 12, 3))


def test_a_cost_is_the_time_that_something_takes_longer():
    assert cost_percent(50.0, 55.0) == 10.0
    assert cost_percent(4.0, 4.0) == 0.0


def test_alternated_calls_may_be_repeated():
    calls = []
    times = alternated_ns({name: (lambda name=name: calls.append(name)) for name in "ab"}, rounds=2, repeats=3)
    assert {name: len(taken) for name, taken in times.items()} == {"a": 6, "b": 6}
    assert [set(calls[at : at + 3]) in ({"a"}, {"b"}) for at in range(0, 12, 3)] == [True] * 4
