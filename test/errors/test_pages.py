"""Every code has a page, whose wrong code makes exactly that mistake, in the words shown, and whose right code runs.

``SIM_NODE_GOLDEN=write pytest test/errors`` writes anew what the wrong code says, and the list of codes; read the diff.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from devices import absent

from sim_node.errors import Coded
from sim_node.errors.mistakes import CATALOGUE, GROUPS, PAGES

# Pages whose code is of the shell → the test that makes the mistake.
ELSEWHERE = {
    "SN602": "compiler/test_bundle.py hides llvmlite",
    "SN603": "compiler/test_build.py takes instructions away",
    "SN717": "device/test_driver.py takes cuda-python away",
    "SN718": "device/test_driver.py forks",
    "SN719": "device/test_driver.py asks for what is refused",
}
WRITE = os.environ.get("SIM_NODE_GOLDEN") == "write"
PLACE = re.compile(r"^\S+/\S+\.py:\d+:\d+: ")  # of a message's first line, in the file that was run
BLOCK = re.compile(r"```(\w+)\n(.*?)```\n", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """The parts of a page, which are in one order: title, meaning, wrong code, what it says, right code, why."""

    title: str
    kind: str
    wrong: str
    said: str
    right: str


@cache
def page(code: str) -> Page:
    text = CATALOGUE[code].page()
    (kind, wrong), *said, (same, right) = BLOCK.findall(text)
    prose = re.split(r"\n{2,}", BLOCK.sub("", text))
    assert same == kind
    assert [name for name, _ in said] == (["text"] if kind == "python" else [])
    assert "Wrong:" in prose
    assert "Right:" in prose
    assert 1 < prose.index("Wrong:") < prose.index("Right:") < len(prose) - 1, "it says what it means, and why"
    return Page(prose[0], kind, wrong, said[0][1].strip() if said else "", right)


def without_address(text: str) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def ran(text: str, folder: Path, name: str) -> None:
    """Run a block as the module that it would be."""
    file = folder / f"{name}.py"
    file.write_text(text, "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(text, str(file), "exec"), {"__name__": name, "__file__": str(file)})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to run in, and an environment that a page may change."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIM_NODE_CACHE_MIB", "64")
    return tmp_path


@pytest.fixture
def gpu(code, request):
    """A GPU for the pages that need one, simulated where there is none."""
    if "cuda:0" in page(code).wrong and absent():
        request.getfixturevalue("simulate")()


def test_there_is_a_page_for_each_code_and_no_other():
    assert {path.stem for path in PAGES.glob("*.md")} == {*CATALOGUE, "README"}
    assert (Path(__file__).resolve().parents[2] / "docs" / "errors").resolve() == PAGES.resolve()


@pytest.mark.parametrize("code", CATALOGUE)
def test_the_page_has_the_title_of_the_table(code):
    assert page(code).title == f"# {code}: {CATALOGUE[code].title}"
    assert (page(code).kind == "console") == (code in ELSEWHERE)


@pytest.mark.parametrize("code", sorted(CATALOGUE.keys() - ELSEWHERE))
def test_the_wrong_code_makes_this_mistake_and_says_so(code, folder, gpu):
    with pytest.raises(CATALOGUE[code].family) as caught:
        ran(page(code).wrong, folder, f"wrong_{code}")
    error = caught.value
    assert isinstance(error, Coded)
    assert error.code == code
    first = without_address(str(error)).splitlines()[0]
    if WRITE:
        text, said = CATALOGUE[code].page(), PLACE.sub("", first)
        (PAGES / f"{code}.md").write_text(text.replace(f"```text\n{page(code).said}\n", f"```text\n{said}\n"), "utf-8")
    else:
        assert PLACE.sub("", first).replace("python, cuda:0", "python") == page(code).said  # where there is a GPU


@pytest.mark.parametrize("code", sorted(CATALOGUE.keys() - ELSEWHERE))
def test_the_right_code_runs(code, folder, gpu):
    ran(page(code).right, folder, f"right_{code}")


def test_the_list_is_that_of_the_table():
    told = "Each mistake has a code, at the end of its message's first line; `sim-node inspect error SN201` shows it."
    lines = ["# Mistakes", "", told]
    for group, about in GROUPS.items():
        lines += ["", f"## {group}xx: {about}", ""]
        lines += [f"* [{code}]({code}.md): {one.title}" for code, one in CATALOGUE.items() if code.startswith(group)]
    if WRITE:
        (PAGES / "README.md").write_text("\n".join([*lines, ""]), "utf-8")
    assert (PAGES / "README.md").read_text("utf-8").splitlines() == lines
