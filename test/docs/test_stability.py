"""The page about stability says what happens: its blocks are run, one after the other."""

import doctest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "stability.md"


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("SIM_NODE_CACHE", str(tmp_path))
    text = PAGE.read_text("utf-8").replace("```python\n", "").replace("\n```\n", "\n")
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "page"}, PAGE.name, str(PAGE), 0)
    said = []
    results = doctest.DocTestRunner().run(test, out=said.append)
    assert results.failed == 0, "".join(said)
    assert results.attempted > 8
