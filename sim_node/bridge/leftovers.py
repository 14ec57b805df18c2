"""What dead owners left in shared memory, and its removal."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sim_node.bridge.transports import posix_shm
from sim_node.errors import RingError


@dataclass(frozen=True, slots=True)
class Leftover:
    """A segment's file, and whether it is to go; ``reason`` says why, or why not.

    ``bytes`` is its size. Of ``readers``, living processes that still map it, the memory is until the last has left.
    """

    path: str
    dead: bool
    reason: str
    bytes: int = 0
    readers: tuple[int, ...] = ()


def clean(dry_run: bool = False) -> list[Leftover]:
    """Remove the segments whose owners are surely dead, and no other; with ``dry_run`` only tell which those are.

    What another user has, what is no ring and whose owner cannot be told stays, and is listed with the reason.
    """
    found = []
    for path in sorted(posix_shm.FOLDER.glob("sim_node.*.*")):
        with suppress(FileNotFoundError):  # it went meanwhile
            found.append(_judge(path, path.name.split(".", 2)[2], dry_run))
    return found


def _judge(path: Path, name: str, dry_run: bool) -> Leftover:
    uid = path.lstat().st_uid
    if path not in posix_shm.paths_of(name) or (uid != os.geteuid() and path != posix_shm.path_of(name)):
        return Leftover(str(path), False, f"it belongs to {posix_shm.user(uid)}")
    try:
        with posix_shm.held(path, name) as file:
            size, owner = os.fstat(file).st_size, posix_shm.owner_of(file)
            if owner is None:
                return Leftover(str(path), False, "it is no ring, so nobody knows whose it is", size)
            _, pid, alive = owner
            if alive is None:
                reason = f"its owner, pid {pid}, lives or lived in another pid namespace (container)"
            else:
                reason = f"its owner, pid {pid}, {'is alive' if alive else 'is dead'}"
            readers = () if alive is not False else _readers(path, name)
            if alive is False and not dry_run:
                path.unlink()
            return Leftover(str(path), alive is False, reason, size, readers)
    except (RingError, OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        return Leftover(str(path), False, str(error))


def _readers(path: Path, name: str) -> tuple[int, ...]:
    """Living processes that read the ring, as far as this version of the protocol can tell."""
    try:
        segment = posix_shm.attach(path, name)
    except RingError:
        return ()
    return tuple(pid for pid, alive, *_ in segment.ring.readers() if alive) if segment else ()
