"""The two shell scripts that start Python programs of ours from a prefix."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent.parent / "scripts"
PLACES = {"sim_node": "lib/sim_node/sim_node", "sim-node": "bin/sim-node"}


def python(path: Path, says: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho {says}; for word in "$@"; do echo "$word"; done\n')
    path.chmod(0o755)


@pytest.fixture(params=PLACES)
def launcher(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    target = tmp_path / "a prefix" / PLACES[request.param]
    target.parent.mkdir(parents=True)
    shutil.copy2(SCRIPTS / request.param, target)
    return target


def start(launcher: Path, elsewhere: Path) -> list[str]:
    environ = {"PATH": f"{elsewhere}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([launcher, "--ros-args", "a b"], env=environ, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_prefix_comes_first(launcher: Path, tmp_path: Path) -> None:
    python(tmp_path / "a prefix" / "bin" / "python3", "prefix")
    python(tmp_path / "elsewhere" / "python3", "path")
    first, _, code, *arguments = start(launcher, tmp_path / "elsewhere")
    assert first == "prefix"
    assert "import main" in code
    assert arguments == ["--ros-args", "a b"]


def test_else_the_path(launcher: Path, tmp_path: Path) -> None:
    python(tmp_path / "elsewhere" / "python3", "path")
    assert start(launcher, tmp_path / "elsewhere")[0] == "path"
