"""The transports by which processes share a ring, as one: a name means one ring, whichever it comes by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sim_node.bridge.segment import Form, Found, Segment
from sim_node.bridge.transports import memfd, posix_shm


class Transport(Protocol):
    """What each of them does."""

    @property
    def TRANSPORT(self) -> str: ...  # noqa: N802, D102
    def create(self, name: str, size: int, form: Form, group: int | None = None) -> Segment: ...  # noqa: D102
    def require_free(self, name: str, group: int | None = None) -> None: ...  # noqa: D102
    def find_all(self, name: str) -> Iterator[Segment]: ...  # noqa: D102
    def remove(self, segment: Segment) -> None: ...  # noqa: D102
    def rings(self) -> Iterator[Found]: ...  # noqa: D102


SHARED: dict[str, Transport] = {each.TRANSPORT: each for each in (posix_shm, memfd)}


def create(transport: str, name: str, size: int, form: Form, group: int | None = None) -> Segment:
    """Make the ring of that name, for this user or for a group as well, by one of ``SHARED``.

    Raises RingError when the name belongs to a living process or another user, or when the memory is not there.
    """
    for other, each in SHARED.items():
        if other != transport:
            each.require_free(name, group)
    return SHARED[transport].create(name, size, form, group)


def find(name: str) -> Segment | None:
    """Map the ring of that name; None if there is none. Raises RingError when it is another's, or cannot be read."""
    return next(find_all(name), None)


def find_all(name: str) -> Iterator[Segment]:
    """Map one after another the rings of that name, of this user and its groups. Raises as ``find``."""
    for transport in SHARED.values():
        yield from transport.find_all(name)


def remove(segment: Segment) -> None:
    """Let nobody find the ring any more."""
    if segment.transport in SHARED:
        SHARED[segment.transport].remove(segment)
