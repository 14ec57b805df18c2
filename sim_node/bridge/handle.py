"""A handle: which life of which ring is meant, as a node announces it on ``~/ring``, checked before it is believed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim_node._native import Ring
from sim_node.bridge.name import ring_name
from sim_node.bridge.segment import Segment
from sim_node.bridge.transports import posix_shm, shared
from sim_node.errors import RingError

_WORDS = {"generation": 64, "owner_pid": 22, "owner_start": 34, "owner_uid": 32, "slots": 32}  # member → bits
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Handle:
    """One life of a ring: ``name`` is the ring's, ``owner_start`` its owner's start time (proc(5), field 22).

    A handle is good as long as that life lasts: one from a bag, or of before a restart, is refused.
    """

    name: str
    transport: str
    generation: int
    owner_pid: int
    owner_start: int
    owner_uid: int
    boot_id: str
    slots: int
    layout_digest: str

    @staticmethod
    def of(message: Any) -> Handle:
        """Read a ``sim_node/msg/Ring``, of rclpy or out of a bag.

        Raises RingError naming the member that no ring can have.
        """
        found = {name: _member(message, name, int) for name in _WORDS}
        for name, bits in _WORDS.items():
            if not 0 <= found[name] < 1 << bits:
                raise RingError(f"a ring's {name} is a number below 2^{bits}, not {found[name]}")
        digest = _member(message, "layout_digest", str)
        if not _DIGEST.fullmatch(digest):
            raise RingError(f"a ring's layout_digest is a SHA-256 in hex, not {digest[:80]!r}")
        name, transport = ring_name(_member(message, "segment", str)), _member(message, "transport", str)
        return Handle(name, transport, boot_id=_member(message, "boot_id", str), layout_digest=digest, **found)

    def find(self) -> Segment:
        """Map the ring that is meant, of this user or of one of its groups.

        Raises RingError when this process cannot, or when that life of the ring is over.
        """
        if self.boot_id != boot_id():
            raise self._refusal(
                "is of another host, or of before this one was started again; memory is shared on one host only"
            )
        if self.transport not in shared.SHARED:
            known = " or ".join(shared.SHARED)
            raise self._refusal(f"has the transport {self.transport[:80]!r}; what another process opens is {known}")
        why = "is gone"
        if self.owner_uid != (mine := os.geteuid()):
            owner, reader = posix_shm.user(self.owner_uid), posix_shm.user(mine)
            why = f"is of {owner}, this process of {reader}, and there is none for a group of both"
        for segment in shared.find_all(self.name):
            ring = segment.ring
            wrong = self._differences(ring)
            if not wrong and not ring.ended:
                return segment
            if not wrong:
                why = f"is over: its producer (pid {ring.owner_pid}) has ended"
            elif ring.owner_uid == self.owner_uid:
                why = f"is another one by now: {'; '.join(wrong)}"
        raise self._refusal(
            f"{why}; a handle is good for one life of a ring: take the newest of the topic ~/ring, none of a bag"
        )

    def _differences(self, ring: Ring) -> list[str]:
        """Tell what of this ring is not as the handle says."""
        theirs = {**{word: getattr(ring, word) for word in _WORDS}, "layout_digest": ring.digest.hex()}
        return [f"{word} {is_}, not {was}" for word, is_ in theirs.items() if (was := getattr(self, word)) != is_]

    def _refusal(self, why: str) -> RingError:
        return RingError(f"the ring '{self.name}' {why}")


def boot_id() -> str:
    """Name this host's kernel since its boot: another host has another name."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _member(message: Any, name: str, kind: type) -> Any:
    value = getattr(message, name, None)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RingError(f"this is no message of a ring: its {name} is {value!r:.80}")
    return value
