"""The page about campaigns: its file runs, and its cases are as it says."""

import json
import re
from pathlib import Path

from sim_node.cli.main import run

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "campaigns.md").read_text("utf-8")
(FILE,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
SKYHOOK = """
import sys
from sim_node.bridge import Subscriber

with Subscriber(sys.argv[1]) as ring:
    while True:
        with ring.next(timeout=20.0) as tick:
            force = -3000.0 * tick["body_velocity"]
        ring.send("force", force)
"""


def test_its_file_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "campaign.yaml").write_text(FILE)
    (tmp_path / "skyhook.py").write_text(SKYHOOK)
    assert run(["campaign", "campaign.yaml", "--junit", "campaign.xml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], [case["name"] for case in told["cases"]]) == (
        4, ["plain", "sensor_stuck", "valve_late", "blind"],
    )  # fmt: skip
    for case in told["cases"]:
        assert case["ticks"] == case["verified"] > 0
        assert set(case) == {
            "name", "outcome", "faults", "findings", "failure", "bag", "ticks", "verified", "page",
        }  # fmt: skip
        assert Path(case["bag"]) == Path("evidence", "campaign", case["name"], "bag.mcap")
