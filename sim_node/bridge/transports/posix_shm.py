"""Rings in POSIX shared memory: files of a user or group that appear complete, and are replaced when the owner died."""

from __future__ import annotations

import fcntl
import grp
import mmap
import os
import pwd
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from sim_node._native import Ring
from sim_node.bridge.segment import Form, Found, Segment, require_memory
from sim_node.errors import RingError

TRANSPORT = "posix_shm"
FOLDER = Path("/dev/shm")


def path_of(name: str, group: int | None = None) -> Path:
    """Tell where the segment of a ring's name lies: this user's, or that group's."""
    return FOLDER / f"sim_node.{os.geteuid() if group is None else f'g{group}'}.{name}"


def paths_of(name: str) -> list[Path]:
    """Tell where a ring of that name may lie that this process may read, its user's first."""
    return [path_of(name), *(path_of(name, group) for group in groups())]


def groups() -> list[int]:
    """The groups of this process, the effective one first."""
    return list(dict.fromkeys((os.getegid(), *os.getgroups())))


def group_id(group: str) -> int:
    """Find a group by its name or number. Raises RingError when there is none."""
    try:
        return int(group) if group.isdecimal() else grp.getgrnam(group).gr_gid
    except KeyError:
        raise RingError(f"there is no group '{group}' on this machine: 'getent group' lists them") from None


def create(name: str, size: int, form: Form, group: int | None = None) -> Segment:
    """Make the segment of that name, replacing the one of a dead owner and counting its generation up by one.

    It is for this user alone, or for a group of this user's as well.
    The file has no name until its ring is complete, so nobody sees half of one and a kill leaves nothing.
    All its pages are allocated here: neither side meets SIGBUS later.
    Raises RingError when the name belongs to a living process or another user, or when the memory is not there.
    """
    _require_space(size, name)
    path = path_of(name, group)
    try:
        file = os.open(FOLDER, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise RingError(f"ring '{name}' cannot be made in {FOLDER}: {error.strerror}; see 'sim-node doctor'") from error
    folder = os.open(FOLDER, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            os.posix_fallocate(file, 0, size)
        except OSError as error:
            raise RingError(
                f"ring '{name}' needs {size} bytes, which {FOLDER} does not give: {error.strerror}"
            ) from error
        if group is not None:
            _give(file, name, group)
        memory = mmap.mmap(file, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
        while True:
            # a reader looks for its user's first, so none of a dead owner may stand there
            ring = form(memory, max(_displace(each, name) for each in {path, path_of(name)}))
            with suppress(FileExistsError):  # another producer was faster: look whether it lives
                # The folder's descriptor is not used; naming one makes Python follow the link in /proc.
                os.link(f"/proc/self/fd/{file}", path, src_dir_fd=folder, follow_symlinks=True)
                return Segment(memory, ring, TRANSPORT, name, os.fstat(file).st_ino, path)
    finally:
        os.close(file)
        os.close(folder)


def require_free(name: str, group: int | None = None) -> None:
    """Remove the segments of that name whose owners are dead, so that no reader meets them. Raises as ``create``."""
    for path in {path_of(name, group), path_of(name)}:
        _displace(path, name)


def find_all(name: str) -> Iterator[Segment]:
    """Map one after another the segments of that name, of this user and then of its groups. Raises as ``attach``."""
    found = (attach(path, name) for path in paths_of(name))
    return (segment for segment in found if segment is not None)


def attach(path: Path, name: str) -> Segment | None:
    """Map the segment that lies there; None if there is none.

    Raises RingError when it belongs to another user or holds no ring that can be read.
    """
    try:
        file = _open(path, name)
    except FileNotFoundError:
        return None
    try:
        memory = _map(file)
        return Segment(memory, Ring.attach(memory), TRANSPORT, name, os.fstat(file).st_ino, path)
    except ValueError as error:
        raise RingError(f"ring '{name}' cannot be read: {error}") from error
    finally:
        os.close(file)


def remove(segment: Segment) -> None:
    """Take the segment's name away, if it still is this segment's."""
    with suppress(FileNotFoundError):
        if segment.path is not None and segment.path.lstat().st_ino == segment.inode:
            segment.path.unlink()


def rings() -> Iterator[Found]:
    """List the segments of rings."""
    for path in sorted(FOLDER.glob("sim_node.*.*")):
        name = path.name.split(".", 2)[2]
        yield name, str(path), partial(attach, path, name) if path in paths_of(name) else None


def _give(file: int, name: str, group: int) -> None:
    """Let a group read and write a file of ours."""
    try:
        os.fchown(file, -1, group)
        os.fchmod(file, 0o660)
    except OSError as error:
        raise RingError(
            f"ring '{name}' cannot be for group {group}: {error.strerror}; is {user(os.geteuid())} a member of it?"
        ) from error


def _map(file: int) -> mmap.mmap:
    """Map a whole file; ValueError when it is empty."""
    return mmap.mmap(file, 0, mmap.MAP_SHARED)


def _open(path: Path, name: str) -> int:
    """Open a segment of this user or a group; FileNotFoundError when there is none, RingError for somebody else's."""
    try:
        found = path.lstat()
        owner, of = found.st_uid, path.name.split(".", 2)[1]
        if of == f"g{found.st_gid}" or (of.isdecimal() and owner == os.geteuid()):
            return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RingError(f"ring '{name}': {path} cannot be opened: {error.strerror}") from error
    raise RingError(
        f"ring '{name}' belongs to another user: {path} is of {user(owner)}, this process runs as "
        f"{user(os.geteuid())}; choose another name, or ask that user to remove the file"
    )


def user(uid: int) -> str:
    """Name a user: ``ada (uid 1000)``, or ``uid 1000`` where that has no name here."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


@contextmanager
def held(path: Path, name: str) -> Iterator[int]:
    """Open a segment of this user with its lock: whoever holds that of the file that still has the name may remove it.

    Raises FileNotFoundError when there is none, RingError when it is another user's or cannot be opened.
    """
    while True:
        file = _open(path, name)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.lstat().st_ino == os.fstat(file).st_ino:
                yield file
                return
        finally:
            os.close(file)


def owner_of(file: int) -> tuple[int, int, bool | None] | None:
    """Tell a segment's generation, its owner's pid and whether that lives (None: nobody can tell); None if no ring."""
    return Ring.owner_of(_map(file)) if os.fstat(file).st_size else None


def _displace(path: Path, name: str) -> int:
    """Remove the segment of a dead owner; returns the generation to start with."""
    fresh = time.time_ns() // 1000
    try:
        with held(path, name) as file:
            generation, pid, alive = owner_of(file) or (fresh, 0, False)
            if alive is None:
                raise RingError(
                    f"ring '{name}' belongs to pid {pid} of another pid namespace (container), which may be alive; "
                    f"choose another name, or remove {path} once that container is gone"
                )
            if alive:
                raise RingError(
                    f"ring '{name}' belongs to a running process (pid {pid}): end it, or choose another name"
                )
            path.unlink()
            return generation + 1
    except FileNotFoundError:
        return fresh
    except PermissionError as error:
        raise RingError(
            f"ring '{name}' was left by a dead process of {user(path.lstat().st_uid)}, who alone may remove {path}: "
            "ask for 'sim-node inspect clean' there, or choose another name"
        ) from error


def _require_space(size: int, name: str) -> None:
    """Refuse a segment that is larger than the free space or the free memory."""
    try:
        room = os.statvfs(FOLDER)
    except OSError as error:
        raise RingError(f"ring '{name}' needs {FOLDER}: {error.strerror}") from error
    free = room.f_bavail * room.f_frsize
    if size > free:
        raise RingError(
            f"ring '{name}' needs {size} bytes and {FOLDER} has {free} bytes free: publish fewer or smaller fields, "
            "use fewer slots, take the transport memfd, or enlarge it (mount -o remount,size=…; docker --shm-size=…)"
        )
    require_memory(size, name)
