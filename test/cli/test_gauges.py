"""Rates come of two looks at one life of a ring; the node tells the rest."""

import os
from types import SimpleNamespace

import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.cli import gauges as gauges_module
from sim_node.cli.gauges import Gauges, node_of
from sim_node.layout import Layout

LAYOUT = Layout.of([("x", dtypes.float32, (3,), "m")])


def test_rates_and_lives(monkeypatch):
    name, gauges = f"gauges_{os.getpid()}", Gauges()
    now = iter(range(10**9, 10**12, 5 * 10**8))
    monkeypatch.setattr(gauges_module, "time", SimpleNamespace(monotonic_ns=lambda: next(now)))
    with Publisher(LAYOUT, name=name) as publisher:
        assert gauges.look(name)[0].rate is None
        publisher.next().commit(100, 0)
        assert gauges.look(name)[0].rate is None  # no tick before
        publisher.next().commit(600, 0)
        assert gauges.look(name)[0].rate == pytest.approx(1000.0)
    with Publisher(LAYOUT, name=name) as publisher:
        publisher.next().commit(1, 0)
        assert gauges.look(name)[0].rate is None  # another life
        assert gauges.look("another") == []


def test_what_the_node_tells():
    name = f"gauges_{os.getpid()}"
    with Publisher(LAYOUT, name=name) as publisher:
        figures = {"unit": "ns", "count": 1, "mean": 5.0, "p50": 5, "p99": 5, "p999": 5, "max": 5}
        stats = SimpleNamespace(
            generation=publisher.generation, state="paused", clock="native", real_time_factor=0.0,
            counters=["misses"], counted_since_reset=[3],
            since_reset=[SimpleNamespace(name="lateness", edges=[5], counts=[1], **figures)],
        )  # fmt: skip
        remote = SimpleNamespace(name=node_of(name), stats=stats)
        (gauge,) = Gauges().look(name, remote)
        assert (gauge.state, gauge.clock, gauge.factor, gauge.counters) == ("paused", "native", None, {"misses": 3})
        assert gauge.result()["histograms"] == {"lateness": figures}
        stats.generation += 1  # of the life before
        assert Gauges().look(name, remote)[0].counters == {}


def test_names_of_nodes():
    assert node_of("arm.plant") == "/arm/plant"
