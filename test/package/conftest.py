"""A source distribution, unpacked: what a build may use, and nothing else that lies in the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_SOURCE = (
    ".git",
    ".venv",
    "build",
    "install",
    "log",
    "*.egg-info",
    "__pycache__",
    "*.so",
    ".*_cache",
    ".hypothesis",
)
# what this process was started with and a fresh one must not inherit
OURS = ("PYTHONPATH", "LD_LIBRARY_PATH", "AMENT_PREFIX_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE", "SIM_NODE_ROS")


@pytest.fixture(scope="session")
def environ() -> dict[str, str]:
    """The environment of a shell in which this Python's virtual environment is active."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    scripts = Path(sys.executable).parent
    return {**kept, "PATH": f"{scripts}{os.pathsep}{kept['PATH']}", "VIRTUAL_ENV": sys.prefix}


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> Path:
    """The unpacked source distribution, in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("source distribution")
    copy = folder / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    command = [sys.executable, "-c", "from build_backend import backend; backend.build_sdist('dist')"]
    done = subprocess.run(command, cwd=copy, env={**environ, "SIM_NODE_ROS": "0"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (archive,) = (copy / "dist").glob("*.tar.gz")
    # tarfile's safe filter is not in every Python 3.10 and 3.11, and without it 3.12 warns
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    return folder / archive.name.removesuffix(".tar.gz")
