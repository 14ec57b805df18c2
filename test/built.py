"""examples/, built as a project of a user's own: by CMake and find_package."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# as strict as our own tests are; the header must not need the leniency that CMake grants imported folders
STRICT = "-Wall -Wextra -Wpedantic -Werror"


def examples(into: Path, *options: str, environ: Mapping[str, str] | None = None) -> Path:
    """Build the examples with these options of CMake's and return the folder; skip where a tool is missing."""
    for tool in ("cmake", "ninja", "cc", "c++"):
        if shutil.which(tool, path=environ["PATH"] if environ else None) is None:
            pytest.skip(f"no {tool}")
    flags = [f"-DCMAKE_{language}_FLAGS={STRICT}" for language in ("C", "CXX")]
    configure = ["cmake", "-S", str(ROOT / "examples"), "-B", str(into), "-G", "Ninja", *flags]
    for command in (
        [*configure, "-DCMAKE_NO_SYSTEM_FROM_IMPORTED=ON", *options],
        ["cmake", "--build", str(into)],
    ):
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    return into
