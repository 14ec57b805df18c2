"""A pace counts, and waits."""

from types import SimpleNamespace

from sim_node.cli.benches import pace


def test_each_number_comes_when_it_is_due(monkeypatch):
    slept = []
    clock = SimpleNamespace(sleep=slept.append, monotonic=iter([5.0, 5.0, 5.0005, 5.9]).__next__)
    monkeypatch.setattr(pace, "time", clock)
    assert list(pace.paced(3)) == [1, 2, 3]
    assert [round(value * 1e6) for value in slept] == [1000, 1500, 0]
