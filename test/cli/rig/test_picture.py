"""The demo's picture holds both runs and needs nothing from elsewhere."""

import numpy as np

from sim_node.cli.rig.picture import Travel, draw
from sim_node.replay.plot import POINTS


def travel(scale, ticks=POINTS * 2):
    seconds = np.arange(ticks) * 1e-3
    return Travel(seconds, *(np.sin(seconds) * scale * part for part in (1.0, 2.0, 3.0)))


def test_is_one_page_with_both_runs(tmp_path):
    page = draw(travel(1e-3), travel(2e-3), {"ticks": "8000"}, tmp_path / "made" / "travel.html")
    text = page.read_text()
    for word in ("controller on", "controller off", "road", "Body travel", "Wheel travel", "ticks 8000"):
        assert word in text
    assert "<script src=" not in text
