"""The bench of the spring measures what it says, with peers or without."""

import sys

from sim_node.cli.benches import spring


def test_figures_and_absent_peers(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(spring, "ELEMENTS", {"1M": 1000})
    monkeypatch.setattr(spring, "alternated_us", lambda calls, rounds: dict.fromkeys(calls, 2.0))
    measured = spring.run()
    assert measured.figures == {"gbs_1M": 8.0, "copy_gbs_1M": 4.0, "unchecked_gbs_1M": 8.0, "checks_cost_percent": 0.0}
    assert all("BENCH=1" in measured.peers[name]["absent"] for name in ("warp", "numba"))
    assert measured.peers["numpy"]["gbs_1M"] == 8.0
    assert measured.ratios == {"vs_numpy": 1.0}
