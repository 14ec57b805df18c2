"""What was compiled, kept in memory and on disk, so that nothing is compiled twice.

Two kinds of file: objects (``.o``, ``.cubin``) and records of kernels (``.json``). Each is ``MAGIC``, the SHA-256 of
the rest in hex, a line's end, the rest. It is written beside its place and moved there, so that another process sees
all of it or nothing. One that is damaged, or is not what its name says, is named, made again and replaced.

The folder has a size; who writes removes what was used the longest time ago when it is exceeded. That is safe at any
time: whoever reads has the whole file, or makes it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from sim_node.compiler.backend import elf
from sim_node.compiler.backend.toolchain import Code, Toolchain
from sim_node.errors import mistakes

MAGIC = b"sim_node cache 1\n"
OBJECTS = (".o", ".cubin")  # how their files end
KEPT = 64  # loaded objects that nothing uses
_HEAD = len(MAGIC) + 64 + 1
_DRAFT = ".draft-"
_DEFAULT_MIB = 512
_FRESH_S = 60.0  # what was used within it is not marked again
_ABANDONED_S = 3600.0  # a draft so old has no writer any more
_WRITERS = 8  # that may fill the folder at one time before one of them looks again


def folder() -> Path:
    """Where it is all kept: ``$SIM_NODE_CACHE``, else ``$XDG_CACHE_HOME/sim_node``, else ``~/.cache/sim_node``."""
    if own := os.environ.get("SIM_NODE_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sim_node"


def limit() -> int:
    """How many bytes the folder may take: ``$SIM_NODE_CACHE_MIB``, else 512 MiB; raises SimNodeError for no number."""
    given = os.environ.get("SIM_NODE_CACHE_MIB", "").strip() or str(_DEFAULT_MIB)
    if not given.isascii() or not given.isdigit() or not int(given):
        raise mistakes.CACHE_LIMIT(f"SIM_NODE_CACHE_MIB is '{given}'; write a number of MiB of 1 or more")
    return int(given) << 20


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a folder holds: files of each kind, and the bytes of all."""

    objects: int
    records: int
    size: int


@dataclass
class Cache:
    """Objects and records by name. ``compiled`` and ``loaded`` count how many objects were made, and came from disk."""

    path: Path
    size: int = _DEFAULT_MIB << 20
    compiled: int = 0
    loaded: int = 0
    # All code that is in use, and behind it what was used last, so that a kernel that is made again finds it.
    _memory: WeakValueDictionary[tuple[Toolchain, str], Code] = field(default_factory=WeakValueDictionary)
    _recent: dict[tuple[Toolchain, str], Code] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _turns: WeakValueDictionary[str, threading.Lock] = field(default_factory=WeakValueDictionary)
    _readable: bool | None = None  # None: the folder was not looked at yet
    _writable: bool = True
    _room: int = 0  # bytes to write before the folder is looked at again

    def code(self, name: str, chain: Toolchain, make: Callable[[], bytes]) -> Code:
        """Return the loaded object of a name, compiling it with ``make`` if neither memory nor disk has it."""
        with self._turn(name):
            if (found := self.known(name, chain)) is None:
                image = self._made(f"{name}{chain.suffix}", make)
                found = self._used(name, chain, chain.load(image))
            return found

    def known(self, name: str, chain: Toolchain) -> Code | None:
        """Return the loaded object of a name; None where neither memory nor disk has it."""
        with self._lock:
            found, file = self._memory.get((chain, name)), f"{name}{chain.suffix}"
            if found is None and (image := self._fetch(file)) is not None:
                try:
                    found = chain.load(image)
                    self.loaded += 1
                except elf.ObjectError as fault:
                    self.refuse(file, str(fault))
            return None if found is None else self._used(name, chain, found)

    def _used(self, name: str, chain: Toolchain, code: Code) -> Code:
        """Note loaded code as what was used last; what was so the longest time ago is let go of."""
        with self._lock:
            self._memory[chain, name] = code
            self._recent.pop((chain, name), None)
            self._recent[chain, name] = code
            if len(self._recent) > KEPT:
                del self._recent[next(iter(self._recent))]
        return code

    def image(self, name: str, machine: str, make: Callable[[], bytes]) -> bytes:
        """Return the bytes of an object, which may be of another machine, compiling it if the disk has it not."""
        with self._turn(name):
            image = self._fetch(f"{name}.o")
            try:
                if image is not None:
                    elf.check(image, machine)
            except elf.ObjectError as fault:
                self.refuse(f"{name}.o", str(fault))
                image = None
            self.loaded += image is not None
            return self._made(f"{name}.o", make) if image is None else image

    def _made(self, file: str, make: Callable[[], bytes]) -> bytes:
        image = make()
        with self._lock:
            self.compiled += 1
            self._keep(file, image)
        return image

    def _turn(self, name: str) -> threading.Lock:
        """The lock of whoever makes an object: others that want this one wait and find it, those of others go on."""
        with self._lock:
            return self._turns.setdefault(name, threading.Lock())

    def record(self, name: str) -> Any:
        """Return what a record holds; None where there is none."""
        with self._lock:
            text = self._fetch(f"{name}.json")
            try:
                return None if text is None else json.loads(text)
            except ValueError as fault:
                self.refuse(f"{name}.json", f"it is not JSON: {fault}")
                return None

    def keep(self, name: str, record: Any) -> None:
        """Write a record."""
        with self._lock:
            self._keep(f"{name}.json", json.dumps(record, separators=(",", ":")).encode())

    def holdings(self) -> Holdings:
        """Count what the folder holds."""
        found = self._entries()
        objects = sum(entry.name.endswith(OBJECTS) for entry, _ in found)
        return Holdings(objects, len(found) - objects, sum(about.st_size for _, about in found))

    def clear(self) -> Holdings:
        """Remove every entry; returns what was removed. Whoever uses one keeps it in memory."""
        before = self.holdings()
        for entry, _ in self._entries():
            _remove(entry)
        return before

    def refuse(self, file: str, why: str) -> None:
        """Name an entry that is refused; what is made instead of it takes its place."""
        warnings.warn(f"{self.path / file} is refused: {why}; it is made again", RuntimeWarning, stacklevel=2)

    # files

    def _fetch(self, file: str) -> bytes | None:
        """Read a file; None where it is missing, unreadable or damaged, which are all mended by making it again."""
        if not self._ready():
            return None
        path = f"{self.path}/{file}"
        try:
            with open(path, "rb", buffering=0) as opened:
                stored, used = opened.read(), os.fstat(opened.fileno()).st_mtime
        except OSError:
            return None
        rest = stored[_HEAD:]
        if stored[: len(MAGIC)] != MAGIC:
            self.refuse(file, "it is no entry of this version's")
        elif stored[len(MAGIC) : _HEAD] != hashlib.sha256(rest).hexdigest().encode() + b"\n":
            self.refuse(file, "it is not what was written")
        else:
            if time.time() - used > _FRESH_S:
                _mark(path)
            return rest
        return None

    def _keep(self, file: str, payload: bytes) -> None:
        if not self._ready() or not self._writable:
            return
        try:
            descriptor, draft = tempfile.mkstemp(dir=self.path, prefix=_DRAFT)  # 0600
            try:
                with os.fdopen(descriptor, "wb") as opened:
                    opened.write(MAGIC + hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)
                os.replace(draft, self.path / file)
            except BaseException:
                os.unlink(draft)
                raise
        except OSError as error:
            self._writable = False
            self._warn(f"cannot be written ({error.strerror})")
            return
        self._room -= len(payload) + _HEAD
        if self._room <= 0:
            self._make_room()

    def _make_room(self) -> None:
        """Remove what was used the longest time ago, down to four fifths, where all is too much."""
        found = self._entries()
        taken = sum(about.st_size for _, about in found)
        if taken > self.size:
            for entry, about in sorted(found, key=lambda one: one[1].st_mtime):
                if taken <= self.size * 4 // 5:
                    break
                _remove(entry)
                taken -= about.st_size
        self._room = max(self.size - taken, 0) // _WRITERS

    def _entries(self) -> list[tuple[os.DirEntry[str], os.stat_result]]:
        """List entries, without what is not ours; drafts that were left behind are removed."""
        found = []
        try:
            listed = list(os.scandir(self.path))
        except OSError:
            return []
        for entry in listed:
            ours = entry.name.endswith((*OBJECTS, ".json")) or entry.name.startswith(_DRAFT)
            try:
                if not ours or not entry.is_file(follow_symlinks=False):
                    continue
                about = entry.stat(follow_symlinks=False)
            except OSError:  # another process removed it
                continue
            if not entry.name.startswith(_DRAFT):
                found.append((entry, about))
            elif time.time() - about.st_mtime > _ABANDONED_S:
                _remove(entry)
        return found

    # the folder

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


def _mark(path: str) -> None:
    try:
        os.utime(path)
    except OSError:  # a folder that is only read
        return


def _remove(entry: os.DirEntry[str]) -> None:
    try:
        os.unlink(entry.path)
    except OSError:  # another process did, or the folder is only read
        return
