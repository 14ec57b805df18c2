"""The bench of launches measures what it says, with peers or without."""

import sys

from sim_node.cli.benches import launch


def test_absent_peers_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(launch, "per_call_us", lambda call, **_: (call(), 2.0)[1])
    measured = launch.run()
    assert {"launch_us_1", "launch_us_1024", "plan_us_1", "plan_us_1024"} == set(measured.figures)
    assert all("BENCH=1" in measured.peers[name]["absent"] for name in ("warp", "numba"))
    assert measured.ratios == {"vs_ctypes": 1.0}
