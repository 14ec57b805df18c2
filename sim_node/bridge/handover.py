"""How a descriptor of memory comes from the producer to its readers: by a Unix socket (SCM_RIGHTS)."""

from __future__ import annotations

import os
import secrets
import socket
import struct
import threading
from array import array
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from weakref import WeakSet

from sim_node.bridge.offer import HANDLE_BYTES, Offer
from sim_node.bridge.transports.posix_shm import user
from sim_node.errors import RingError

BACKLOG = 64  # as many readers as a ring has
ANSWER_S = 2.0  # the longest that a reader waits
_LONGEST = 512  # bytes of a refusal
_GENERATION = struct.Struct("<Q")
_CREDENTIALS = struct.Struct("3i")  # unix(7): struct ucred
_PEER_GROUPS = 59  # SO_PEERGROUPS of asm-generic/socket.h, which Python does not name
_GROUPS_BYTES = 1024  # the most that Python asks an option for: 256 groups


class Handover:
    """Hands a descriptor to the readers of a ring, from ``begin`` to ``end``. Attributes: ``handle``.

    The socket lies in no folder, so nothing is left of it after a kill; its name is ``handle``, by default 64 random
    bytes that only the ring tells. Who connects is sent the ring's generation with the descriptor, or a text that says
    why not: the producer waits for nobody. It has a descriptor of its own until its end.
    Raises OSError when another socket has the name.
    """

    def __init__(self, file: int, handle: bytes = b"") -> None:
        self.handle = handle or secrets.token_hex(HANDLE_BYTES // 2).encode()
        self._thread: threading.Thread | None = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._file = -1
        self._socket.bind(_address(self.handle))
        self._socket.listen(BACKLOG)  # who comes before it begins waits
        self._file = os.dup(file)
        _begun.add(self)

    def begin(self, generation: int, group: int | None) -> None:
        """Answer readers that are of this user, or of a group."""
        given = self._socket, self._file, generation, group
        self._thread = threading.Thread(target=_serve, args=given, name="sim_node handover", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Answer no more; after it the descriptor may be closed."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # which wakes the thread
        if self._thread not in (None, threading.current_thread()):  # which may be the one that collects garbage
            self._thread.join()
        self.close()

    def close(self) -> None:
        """Let go of socket and descriptor."""
        self._socket.close()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.end()


_begun: WeakSet[Handover] = WeakSet()


def _forked() -> None:
    """Let the child hold no name that its parent's end is to set free."""
    for handover in _begun:
        handover.close()


os.register_at_fork(after_in_child=_forked)


@dataclass(frozen=True)
class Answer:
    """What the other end of a handover said, with the descriptors that it sent, and who that is."""

    said: bytes
    files: array[int]
    pid: int
    uid: int
    groups: frozenset[int]


@contextmanager
def received(offer: Offer) -> Iterator[int]:
    """Get the descriptor of an offered memory from its producer; it is closed behind the block.

    Raises RingError where the producer refuses, does not answer, or is not the one who answers.
    """
    with ExitStack() as asking:
        try:
            answer = asking.enter_context(asked(offer.memory))
        except OSError as error:
            raise RingError(
                f"the producer (pid {offer.pid}) does not hand its memory out: {error}; if it has ended, start it again"
            ) from error
        if (answer.pid, answer.uid) != (offer.pid, offer.uid):
            raise RingError(
                f"pid {answer.pid} of {user(answer.uid)} answers in place of the producer, pid {offer.pid} of "
                f"{user(offer.uid)}"
            )
        if not answer.files:
            told = answer.said.decode(errors="replace") or "it ended"
            raise RingError(f"the producer (pid {offer.pid}) refuses: {told}")
        if answer.said != _GENERATION.pack(offer.generation):
            raise RingError(f"the memory is of another generation of the ring than {offer.generation}")
        yield answer.files[0]


@contextmanager
def asked(handle: bytes) -> Iterator[Answer]:
    """Ask whoever has that name for a descriptor; what came is closed behind the block.

    Raises OSError: ConnectionRefusedError when nobody has the name, TimeoutError when no answer came.
    """
    files = array("i")
    with _connected(handle) as producer:
        pid, uid, gid = _credentials(producer)
        groups = frozenset((gid, *_groups(producer)))
        # socket.recv_fds drops the flag, and a child would inherit the memory
        said, sent, *_ = producer.recvmsg(_LONGEST, socket.CMSG_LEN(files.itemsize), socket.MSG_CMSG_CLOEXEC)
    for level, kind, told in sent:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(told[: len(told) - len(told) % files.itemsize])
    try:
        yield Answer(said, files, pid, uid, groups)
    finally:
        for file in files:
            os.close(file)


def holder(handle: bytes) -> tuple[int, int]:
    """Tell pid and uid of the process that has a name. Raises OSError as ``asked``."""
    with _connected(handle) as producer:
        return _credentials(producer)[:2]


@contextmanager
def _connected(handle: bytes) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as producer:
        producer.settimeout(ANSWER_S)
        producer.connect(_address(handle))
        yield producer


def _address(handle: bytes) -> bytes:
    return b"\0sim_node." + handle


def _serve(listening: socket.socket, file: int, generation: int, group: int | None) -> None:
    while True:
        try:
            peer, _ = listening.accept()
        except OSError:  # it was shut down
            return
        with peer, suppress(OSError):  # a reader that left
            refused = _refusal(peer, group)
            if refused:
                peer.send(refused.encode()[:_LONGEST])
            else:
                socket.send_fds(peer, [_GENERATION.pack(generation)], [file])


def _refusal(peer: socket.socket, group: int | None) -> str:
    """Say why a reader does not get the descriptor; '' where it does."""
    _, uid, gid = _credentials(peer)
    if uid == os.geteuid() or (group is not None and group in (gid, *_groups(peer))):
        return ""
    whom = user(os.geteuid()) + ("" if group is None else f" and group {group}")
    return f"the memory is for {whom}, not {user(uid)}"


def _credentials(peer: socket.socket) -> tuple[int, int, int]:
    """Tell pid, uid and gid of the process at the other end, as they were when it connected, or listened."""
    pid, uid, gid = _CREDENTIALS.unpack(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid, gid


def _groups(peer: socket.socket) -> array[int]:
    """Tell the supplementary groups of the process at the other end; none where they are more than Python asks for."""
    try:
        return array("I", peer.getsockopt(socket.SOL_SOCKET, _PEER_GROUPS, _GROUPS_BYTES))
    except OSError:
        return array("I")
