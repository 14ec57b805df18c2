"""Pages of the docs whose blocks are a session: run one after the other."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def session(tmp_path, monkeypatch):
    """Run a page's blocks; gives how many lines of input it had."""
    monkeypatch.setenv("SIM_NODE_CACHE", str(tmp_path))

    def run(name):
        page = DOCS / name
        text = page.read_text("utf-8").replace("```python\n", "").replace("\n```\n", "\n")
        test = doctest.DocTestParser().get_doctest(text, {"__name__": "page"}, page.name, str(page), 0)
        said = []
        results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
        assert results.failed == 0, "".join(said)
        return results.attempted

    return run
