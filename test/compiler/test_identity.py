"""Whatever text makes an object is part of who made it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim_node.compiler import identity


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    parts = (f"compiler/{part}" for part in ("ir", "analysis", "passes", "backend", "frontend"))
    for folder in ("dtypes", "lang/library", *parts):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "part.py").write_text("one = 1\n")
    monkeypatch.setattr(identity, "_PACKAGE", tmp_path)
    return tmp_path


def told() -> list[str]:
    return [one.__wrapped__() for one in (identity.backend, identity.compiler, identity.stamp)]


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("compiler/backend/part.py", [True, True, True]),
        ("compiler/passes/part.py", [True, True, True]),
        ("compiler/analysis/part.py", [True, True, True]),
        ("dtypes/part.py", [True, True, True]),
        ("compiler/frontend/part.py", [False, True, True]),
        ("lang/library/part.py", [False, True, True]),
        ("lang/library/new.py", [False, True, True]),
        ("compiler/ir/notes.txt", [False, False, False]),
    ],
)
def test_a_changed_file_changes_who_made_it(package: Path, file: str, changed: list[bool]) -> None:
    before = told()
    (package / file).write_text("one = 1234\n")
    assert [one != other for one, other in zip(before, told(), strict=True)] == changed


def test_the_version_is_part_of_it(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told()
    monkeypatch.setattr(identity.sim_node, "__version__", "another")
    assert all(one != other for one, other in zip(before, told(), strict=True))


def test_the_package_has_every_part() -> None:
    names = {Path(entry.path).relative_to(identity._PACKAGE).parts[0] for entry in identity._files(*identity._ALL)}
    assert names == {"dtypes", "lang", "compiler"}
