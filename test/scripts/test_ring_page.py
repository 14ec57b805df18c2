"""docs/ring.md says of the header what a compiler says, in C and in C++, and leaves nothing out."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ring.md").read_text("utf-8")


@pytest.fixture
def ring_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import ring_page

    for command, *_ in ring_page.COMPILERS.values():
        if shutil.which(command) is None:
            pytest.skip(f"no {command}")
    return ring_page


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_page_is_up_to_date(ring_page, language):
    assert ring_page.rewrite(PAGE, ring_page.tables(language)) == PAGE, "run scripts/ring_page.py"


def test_each_row_has_a_meaning(ring_page):
    """The script leaves it empty for what is new in the header."""
    for table in re.findall(r"<!-- table: \w+ -->\n(.*?)<!-- end of table -->", PAGE, re.DOTALL):
        rows = table.splitlines()[2:]
        assert rows
        for row in rows:
            assert row.strip("| ").split("|")[-1].strip() not in ("", "end"), row


def test_a_new_member_comes_without_a_meaning_and_a_gone_one_goes(ring_page):
    found = ring_page.tables()
    found["sn_slot"] = [("0", "8", "`colour`"), *found["sn_slot"][1:]]
    changed = ring_page.rewrite(PAGE, found)
    assert "| 0 | 8 | `colour` |  |\n" in changed
    assert "| `sequence` | 2 ·" not in changed


def test_what_the_script_cannot_read_ends_it(ring_page, monkeypatch):
    with pytest.raises(SystemExit, match="declares no struct sn_none"):
        ring_page.members("sn_none")
    with pytest.raises(SystemExit, match="no place '<!-- table: sn_slot -->'"):
        ring_page.rewrite("", {"sn_slot": []})
    monkeypatch.setattr(ring_page, "TEXT", "typedef struct {\n    void (*call)(void);\n} sn_slot;\n")
    with pytest.raises(SystemExit, match="the declaration of sn_slot"):
        ring_page.members("sn_slot")


def test_the_page_lists_each_text_that_a_function_returns(ring_page):
    """All texts of the header with a space are such, but those of codes, which their table explains."""
    texts = re.sub(r"/\*.*?\*/|^#.*?$", "", ring_page.TEXT, flags=re.DOTALL | re.MULTILINE)
    texts = re.sub(r"(case SN_\w+|default): return.*", "", texts)
    returned = {text for text in re.findall(r'"([a-z][^"\\%]*)"', texts) if " " in text}
    listed = re.findall(r"^\|[^|]*\| ([^|]*) \|[^|]*\|$", PAGE.split("text for people")[1], re.MULTILINE)
    assert len(returned) > 15
    assert sorted(returned) == sorted(set(listed) - {"text"})


def test_the_version_is_the_same_in_the_first_bytes(ring_page):
    """What any version may read of any other ends where the page says."""
    rows = {name: int(offset) for offset, _, name in ring_page.tables()["sn_control"][:-1]}
    assert "the first 48 bytes, `magic` to `owner_uid`" in PAGE
    first = ["`magic`", "`version`", "`control_size`", "`generation`", "`owner`", "`pid_namespace`", "`owner_uid`"]
    assert [rows[name] for name in first] == [0, 8, 12, 16, 24, 32, 40]
    assert rows["`digest`"] == 48
