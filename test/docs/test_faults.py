"""The page about faults: its test passes, its reference finds the plant, and its tables name what there is."""

import re
from pathlib import Path

from sim_node.plant import reference
from sim_node.plant.fault import _OTHERS, _TIMES, KINDS

pytest_plugins = ["pytester"]

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "faults.md").read_text("utf-8")


def test_its_block_is_a_test_that_passes(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("\n\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)))
    pytester.runpytest_subprocess("-p", "sim_node.testing.plugin", "--strict-markers").assert_outcomes(passed=1)


def test_its_reference_finds_the_plant():
    (text,) = re.findall(r"^sim_node\S+$", TEXT, re.MULTILINE)
    assert reference(text)().faultable == {"force": 0, "body": 50}


def test_its_tables_name_what_there_is():
    rows = [re.findall(r"`(\w+)", line.split("|")[1]) for line in TEXT.splitlines() if line.startswith("| `")]
    assert [name for row in rows for name in row] == [*KINDS, "element", *_TIMES, "seed"]
    assert set(_OTHERS) == {"variable", "element", "seed"}
