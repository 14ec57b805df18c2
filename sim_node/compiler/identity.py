"""Who compiles: what changes whenever the same kernel might become another object."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import sim_node

_PACKAGE = Path(str(sim_node.__file__)).parent
# What the object of a kernel depends on, and what the object of a digest does.
_ALL, _BACKEND = (
    ("dtypes", "lang", "compiler"),
    ("dtypes", "compiler/ir", "compiler/analysis", "compiler/passes", "compiler/backend"),
)


@cache
def backend() -> str:
    """Identify what makes the object of a digest: package, and the text of our own passes and back end."""
    return _digest(*_BACKEND)


@cache
def compiler() -> str:
    """Identify what makes the object of a kernel: all of the compiler, and the library of the language."""
    return _digest(*_ALL)


@cache
def stamp() -> str:
    """Identify the compiler that is installed here, by sizes and times of its files, which costs little."""
    told = f"{sim_node.__version__}\n{_PACKAGE}\n"
    for entry in _files(*_ALL):
        about = entry.stat()
        told += f"{entry.name} {about.st_size} {about.st_mtime_ns} {about.st_ino}\n"
    return hashlib.sha256(told.encode()).hexdigest()


def _digest(*folders: str) -> str:
    hasher = hashlib.sha256(f"{sim_node.__version__}\n".encode())
    for entry in _files(*folders):
        hasher.update(entry.name.encode() + b"\n" + Path(entry.path).read_bytes())
    return hasher.hexdigest()


def _files(*folders: str) -> Iterator[os.DirEntry[str]]:
    """Every source file of these folders and those inside, in order."""
    for folder in folders:
        yield from _inside(_PACKAGE / folder)


def _inside(folder: str | Path) -> Iterator[os.DirEntry[str]]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir() and entry.name != "__pycache__":
            yield from _inside(entry.path)
        elif entry.name.endswith(".py"):
            yield entry
