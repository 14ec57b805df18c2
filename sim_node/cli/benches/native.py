"""Programs in C and C++ that a bench runs, compiled by the system's compiler with the installed header."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from sim_node.cli.inspect import include_dir

HERE = Path(__file__).resolve().parent
# what a file's name ends with → the variable that names its compiler, the default, the language
COMPILERS = {".c": ("CC", "cc", "c11"), ".cpp": ("CXX", "c++", "c++17")}


def compiled(source: str, folder: Path, *more: str) -> Path:
    """Compile a program of this folder into another one, with ``more`` flags; returns the executable.

    Raises FileNotFoundError where there is no compiler, RuntimeError with what it said.
    """
    variable, default, language = COMPILERS[Path(source).suffix]
    compiler = os.environ.get(variable, default).split()
    if shutil.which(compiler[0]) is None:
        raise FileNotFoundError(f"there is no compiler '{compiler[0]}'; {variable} names another")
    program = folder / Path(source).stem
    flags = [*more, f"-std={language}", "-D_GNU_SOURCE", "-O2", f"-I{include_dir().result['include_dir']}"]
    command = [*compiler, *flags, str(HERE / source), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{compiler[0]} did not compile {source}: {done.stderr}")
    return program
