"""The command around the benches: one JSON object, tables, and a file for the record."""

import json

from sim_node.cli.benches import launch
from sim_node.cli.benches.measurement import Measurement

MADE = Measurement("launch", {"launch_us_1": 0.25}, {"warp": {"absent": "none here"}}, {"vs_warp": 40.0})


def test_prints_and_saves_the_same(sim_node, monkeypatch, tmp_path):
    monkeypatch.setattr(launch, "run", lambda: MADE)
    said = sim_node("bench", "launch", "--save", str(tmp_path / "kept"), "--json")
    assert said.code == 0
    assert said.object["ratios"] == {"vs_warp": 40.0}
    assert json.loads((tmp_path / "kept" / "launch.json").read_text()) == said.object


def test_tables_show_absent_peers(sim_node, monkeypatch):
    monkeypatch.setattr(launch, "run", lambda: MADE)
    said = sim_node("bench", "launch")
    assert said.code == 0
    assert "none here" in said.out
    assert "40" in said.out


def test_an_unknown_bench_is_refused(sim_node):
    assert sim_node("bench", "nothing").code == 2
