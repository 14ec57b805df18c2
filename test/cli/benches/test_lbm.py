"""The bench of the fluid measures what it says, with its peer or without."""

import sys

from sim_node.cli.benches import lbm


def test_figures_and_an_absent_peer(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    monkeypatch.setattr(lbm, "SHAPE", (8, 16))
    monkeypatch.setattr(lbm, "alternated_us", lambda calls, rounds: {"checked": 2.0, "unchecked": 1.6})
    measured = lbm.run()
    assert measured.figures["checked"] == 64.0
    assert measured.figures["unchecked"] == 80.0
    assert measured.figures["checks_cost_percent"] == 25.0
    assert measured.figures["checks"]["kept"] == 0
    assert measured.figures["lanes"] > 1
    assert "BENCH=1" in measured.peers["warp"]["absent"]
    assert measured.ratios == {}
