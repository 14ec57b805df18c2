import shutil

import pytest

from sim_node.cli.benches import tick_costs


def test_a_tick_allocates_nothing_and_needs_no_lock():
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    figures = tick_costs.measure()
    assert figures["allocations_per_tick"] == 0
    assert figures["gil_acquisitions_per_tick"] == 0
    assert figures["ticks_beside_a_held_gil"] > 2


def test_what_cannot_be_counted_is_named(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    assert "there is no compiler 'no-such-compiler'" in tick_costs.measure()["costs_absent"]
