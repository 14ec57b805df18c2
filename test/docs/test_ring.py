"""The page about the ring: its commands build what it says, and what it points at is there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "ring.md").read_text("utf-8")


def test_its_commands_run(tmp_path):
    for tool in ("cc", "c++", "cmake", "make"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (block,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    script = "\n".join(line.removeprefix("$ ") for line in block.splitlines())
    called = tmp_path / "bin" / "sim-node"
    called.parent.mkdir()
    called.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sim_node.cli "$@"\n')
    called.chmod(0o755)
    names = {**os.environ, "PATH": f"{called.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-e", "-c", script], cwd=tmp_path, env=names, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for program in ("controller", "build/controller_c", "build/controller_cpp"):
        assert os.access(tmp_path / program, os.X_OK), program


def test_what_it_points_at_is_there():
    for path in re.findall(r"\]\(([\w/.]+)\)", TEXT):
        assert (ROOT / "docs" / path).exists(), path
