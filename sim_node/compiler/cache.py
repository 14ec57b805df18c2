"""Compiled objects, kept in memory and on disk, so that nothing is compiled twice.

A file is ``MAGIC``, the SHA-256 of the object, the object. It is written beside its place and moved there, so that
another process sees all of it or nothing; a damaged one is compiled again and replaced.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sim_node.compiler.backend import elf

MAGIC = b"sim_node object 1\n"
_DIGEST = hashlib.sha256().digest_size


def folder() -> Path:
    """Where objects are kept: ``$SIM_NODE_CACHE``, else ``$XDG_CACHE_HOME/sim_node``, else ``~/.cache/sim_node``."""
    if own := os.environ.get("SIM_NODE_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sim_node"


@dataclass
class Cache:
    """Objects by key. ``compiled`` and ``loaded`` count how many were made, and how many came from disk."""

    path: Path
    compiled: int = 0
    loaded: int = 0
    _memory: dict[str, elf.Code] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _readable: bool | None = None  # None: the folder was not looked at yet
    _writable: bool = True

    def code(self, key: str, make: Callable[[], bytes]) -> elf.Code:
        """Return the loaded object of a key, compiling it with ``make`` if neither memory nor disk has it."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = self._fetch(key) or self._make(key, make)
            return self._memory[key]

    def _make(self, key: str, make: Callable[[], bytes]) -> elf.Code:
        image = make()
        code = elf.load(image)
        self.compiled += 1
        self._keep(key, image)
        return code

    def _fetch(self, key: str) -> elf.Code | None:
        """Load from disk; None where the file is missing, unreadable or damaged, which are all mended by compiling."""
        if not self._ready():
            return None
        try:
            stored = self._file(key).read_bytes()
            head, image = stored[: len(MAGIC) + _DIGEST], stored[len(MAGIC) + _DIGEST :]
            if head != MAGIC + hashlib.sha256(image).digest():
                return None
            code = elf.load(image)
        except (OSError, elf.ObjectError):
            return None
        self.loaded += 1
        return code

    def _keep(self, key: str, image: bytes) -> None:
        if not self._ready() or not self._writable:
            return
        try:
            descriptor, draft = tempfile.mkstemp(dir=self.path, prefix=".draft-")  # 0600
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(MAGIC + hashlib.sha256(image).digest() + image)
                os.replace(draft, self._file(key))
            except BaseException:
                os.unlink(draft)
                raise
        except OSError as error:
            self._writable = False
            self._warn(f"cannot be written ({error.strerror})")

    def _ready(self) -> bool:
        """Make and check the folder, on first use: code is run from it, so no one else may write there."""
        if self._readable is None:
            fault = self._fault()
            self._readable = not fault
            if fault:
                self._warn(fault)
        return self._readable

    def _fault(self) -> str:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = self.path.stat()
        except OSError as error:
            return f"cannot be made ({error.strerror})"
        if found.st_uid != os.geteuid():
            return "belongs to another user"
        return "can be written by other users" if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""

    def _warn(self, why: str) -> None:
        """Say, once, that what is compiled from here on is kept in memory only."""
        warnings.warn(
            f"the cache folder {self.path} {why}: what is compiled now is kept in memory only; "
            "set SIM_NODE_CACHE to a folder of your own",
            RuntimeWarning,
            stacklevel=2,
        )

    def _file(self, key: str) -> Path:
        return self.path / f"{key}.o"
