"""Rings in memory without a file: sealed to their size, handed to readers by a socket, gone with their last process."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from sim_node._native import Ring
from sim_node.bridge.handover import Handover, asked, holder
from sim_node.bridge.segment import Form, Found, Segment, require_memory
from sim_node.bridge.transports.posix_shm import groups, user
from sim_node.errors import RingError

TRANSPORT = "memfd"
LONGEST = 98  # bytes of a socket's handle: sockaddr_un has 108, of which one is zero and nine are ``sim_node.``
# What a reader may rely on: no process, not even the producer, makes the memory shorter, which would be SIGBUS.
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_LISTED = re.compile(r"@sim_node\.(g?)(\d+)\.(.+)")
_SOCKETS = Path("/proc/net/unix")


def create(name: str, size: int, form: Form, group: int | None = None) -> Segment:
    """Make a ring that processes of this user find by its name, or those of a group of this user's as well.

    Nothing lies in a folder, so a kill leaves nothing. All its pages are allocated here.
    Raises RingError when the name is too long or belongs to a living process, or when the memory is not there.
    """
    require_memory(size, name)
    handle = _handle(name, group)
    if len(handle) > LONGEST:
        raise RingError(
            f"ring '{name}' cannot be found by a socket: its name has {len(name)} characters, at most "
            f"{LONGEST - len(handle) + len(name)} fit; choose a shorter one, or the transport posix_shm"
        )
    if group is not None and os.geteuid() != 0 and group not in groups():
        raise RingError(f"ring '{name}' cannot be for group {group}: {user(os.geteuid())} is no member of it")
    file = os.memfd_create(f"sim_node.{name}", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.posix_fallocate(file, 0, size)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, SEALS)
        memory = mmap.mmap(file, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
        handover = Handover(file, handle)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise RingError(f"ring '{name}' cannot have {size} bytes of memory: {error.strerror}") from error
        require_free(name, group)
        raise RingError(f"ring '{name}' belonged to a process that has just ended: try again") from error
    finally:
        os.close(file)
    ring = form(memory, time.time_ns() // 1000)
    handover.begin(ring.generation, group)
    return Segment(memory, ring, TRANSPORT, name, handover=handover)


def require_free(name: str, group: int | None = None) -> None:
    """Refuse a name that a living process has, for its user or for that group. Raises RingError naming it."""
    for handle in {_handle(name, None), _handle(name, group)}:
        try:
            pid, uid = holder(handle)
        except OSError:  # nobody has it, or it is too long for anybody
            continue
        whose = f"pid {pid}" if uid == os.geteuid() else f"pid {pid} of {user(uid)}"
        raise RingError(f"ring '{name}' belongs to a running process ({whose}): end it, or choose another name")


def find_all(name: str) -> Iterator[Segment]:
    """Map one after another the rings of that name, of this user and then of its groups. Raises as ``attach``."""
    found = (attach(name, group) for group in (None, *groups()))
    return (segment for segment in found if segment is not None)


def attach(name: str, group: int | None = None) -> Segment | None:
    """Map this user's ring of that name, or that group's; None if there is none.

    Raises RingError when somebody else has its name, it is not handed out, or holds no ring that can be read.
    """
    handle = _handle(name, group)
    if len(handle) > LONGEST:
        return None
    try:
        with asked(handle) as answer:
            if answer.uid != os.geteuid() if group is None else answer.uid != 0 and group not in answer.groups:
                raise RingError(f"ring '{name}' is said to be at pid {answer.pid}, which is of {user(answer.uid)}")
            if not answer.files:
                if not answer.said:
                    return None  # it ended meanwhile
                raise RingError(f"ring '{name}' is not for this process: {answer.said.decode(errors='replace')}")
            memory = _sealed(answer.files[0], name)
            ring = Ring.attach(memory)
    except ConnectionError:
        return None
    except OSError as error:
        raise RingError(f"ring '{name}' is not handed out by its producer: {error}") from error
    except ValueError as error:
        raise RingError(f"ring '{name}' cannot be read: {error}") from error
    if ring.owner_pid != answer.pid:
        raise RingError(f"ring '{name}' is of pid {ring.owner_pid}, and pid {answer.pid} hands it out")
    return Segment(memory, ring, TRANSPORT, name)


def remove(segment: Segment) -> None:
    """Hand the ring out no more."""
    if segment.handover is not None:
        segment.handover.end()


def rings() -> Iterator[Found]:
    """List the rings of this network namespace."""
    words = (line.split() for line in _SOCKETS.read_text().splitlines()[1:])
    for path in sorted({line[7] for line in words if len(line) == 8}):
        if listed := _LISTED.fullmatch(path):
            number, name = int(listed[2]), listed[3]
            group = number if listed[1] else None
            mine = number == os.geteuid() if group is None else group in groups()
            yield name, f"the socket {path}", partial(attach, name, group) if mine else None


def _handle(name: str, group: int | None) -> bytes:
    return f"{os.geteuid() if group is None else f'g{group}'}.{name}".encode()


def _sealed(file: int, name: str) -> mmap.mmap:
    """Map memory that nobody can make shorter."""
    if fcntl.fcntl(file, fcntl.F_GET_SEALS) & SEALS != SEALS:
        raise RingError(f"ring '{name}' cannot be read: its memory is not sealed, so it could become shorter")
    return mmap.mmap(file, 0, mmap.MAP_SHARED)
