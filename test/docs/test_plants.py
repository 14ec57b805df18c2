"""The page about several plants: its code runs, and its file is the example's."""

import re
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]


def test_the_page(session, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert session("plants.md") > 10


def test_its_file_is_the_example():
    (block,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "plants.md").read_text("utf-8"), re.DOTALL)
    example = (ROOT / "examples" / "coupled" / "coupled.yaml").read_text("utf-8")
    assert YAML(typ="safe").load(block) == YAML(typ="safe").load(example)
