"""The page about tests on a rig: its blocks are a test file that passes, and its tables name what there is."""

import re
from dataclasses import fields
from pathlib import Path

from sim_node.testing.options import Options
from sim_node.testing.rig import Rig

pytest_plugins = ["pytester"]

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "testing.md").read_text("utf-8")


def test_its_blocks_are_tests_that_pass(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("\n\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)))
    pytester.runpytest_subprocess("-p", "sim_node.testing.plugin", "--strict-markers").assert_outcomes(passed=3)


def test_its_tables_name_what_there_is():
    rows = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in TEXT.splitlines() if line.startswith("| `")]
    options = {name for row in rows for name in row if not name.startswith("rig")}
    assert options == {each.name for each in fields(Options)} - {"plant"}
    for name in re.findall(r"^\| `rig\.(\w+)", TEXT, re.MULTILINE):
        assert hasattr(Rig, name)
