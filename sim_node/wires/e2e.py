"""End-to-end protection of messages by AUTOSAR's E2E profiles: checksum, counter, and an identity that is not sent.

Source: AUTOSAR, "E2E Protocol Specification", R23-11 (PRS_E2EProtocol). The header of a profile lies at the message's
byte ``offset``; numbers of a profile that has more than a nibble of counter are big-endian, but for profile 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sim_node.errors import WireError
from sim_node.errors.suggestion import suggestion
from sim_node.wires.crc import CRC8_PLAIN, CRCS, Crc

MODES = ("both", "alt", "low", "nibble")  # how profile 1 takes its data id into the checksum
IDS = 16  # data ids in the list of profiles 2 and 22


@dataclass(frozen=True, slots=True)
class Place:
    """Bytes of a header, counted from its beginning; ``nibble`` is the lower half of one byte."""

    at: int
    size: int
    nibble: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """One row of the table: where a header has what, and what the checksum is of.

    ``counts`` is how many values the counter has. ``data_id`` is where that stands in the header; None: it is only in
    the checksum, before the message (``prefixed``) or behind it, lowest byte first where ``order`` says so. ``listed``
    takes one of 16 data ids, by the counter.
    """

    crc: Crc
    crc_at: Place
    counter_at: Place
    counts: int
    modes: tuple[str, ...] = ()
    listed: bool = False
    prefixed: bool = False
    length_at: Place | None = None
    data_id: Place | None = None
    id_bytes: int = 2
    order: Literal["little", "big"] = "big"

    @property
    def size(self) -> int:
        """Bytes of the header."""
        places = (self.crc_at, self.counter_at, self.length_at, self.data_id)
        return max(place.at + place.size for place in places if place)


_BYTE, _NIBBLE = Place(0, 1), Place(1, 1, nibble=True)

PROFILES = {
    1: Profile(CRC8_PLAIN, _BYTE, _NIBBLE, 15, MODES, prefixed=True, order="little"),
    2: Profile(CRCS["CRC8H2F"], _BYTE, _NIBBLE, 16, listed=True, id_bytes=1),
    4: Profile(
        CRCS["CRC32P4"], Place(8, 4), Place(2, 2), 1 << 16, length_at=Place(0, 2), data_id=Place(4, 4), id_bytes=4
    ),
    5: Profile(CRCS["CRC16"], Place(0, 2), Place(2, 1), 1 << 8, order="little"),
    6: Profile(CRCS["CRC16"], Place(0, 2), Place(4, 1), 1 << 8, length_at=Place(2, 2)),
    7: Profile(
        CRCS["CRC64"], Place(0, 8), Place(12, 4), 1 << 32, length_at=Place(8, 4), data_id=Place(16, 4), id_bytes=4
    ),
    11: Profile(CRC8_PLAIN, _BYTE, _NIBBLE, 15, ("both", "nibble"), prefixed=True, order="little"),
    22: Profile(CRCS["CRC8H2F"], _BYTE, _NIBBLE, 16, listed=True, id_bytes=1),
}  # fmt: skip


class Protection:
    """The protection of one message of ``length`` bytes by a profile.

    ``data_id`` is a number, or for profiles 2 and 22 a list of 16; ``mode`` is for profiles 1 and 11.
    Attributes: ``profile``, ``covered`` (the numbers of the bytes that ``protect`` writes, whole or in part).
    Raises WireError saying what does not fit, without the message's name.
    """

    def __init__(
        self, profile: int, length: int, data_id: int | Sequence[int], offset: int = 0, mode: str = ""
    ) -> None:
        if profile not in PROFILES:
            raise WireError(f"there is no E2E profile {profile!r}; there are {', '.join(map(str, PROFILES))}")
        self.profile = row = PROFILES[profile]
        if type(offset) is not int or offset < 0 or offset + row.size > length:
            raise WireError(
                f"the header of E2E profile {profile} has {row.size} bytes and lies inside the message's {length}, not "
                f"at offset {offset!r}"
            )
        if mode and not row.modes:
            raise WireError(f"E2E profile {profile} has no mode; only 1 and 11 have")
        self._mode = mode or (row.modes[0] if row.modes else "")
        if row.modes and self._mode not in row.modes:
            raise WireError(f"the mode of E2E profile {profile} is {', '.join(row.modes)}, not {mode!r}"
                            f"{suggestion(mode, row.modes)}")  # fmt: skip
        self._ids = self._checked(profile, row, data_id)
        self._length, self._offset = length, offset
        self.covered = {offset + place.at + byte for place in self._written() for byte in range(place.size)}

    def protect(self, message: bytearray, counter: int) -> None:
        """Write counter, what else the header has, and the checksum into a message."""
        row = self.profile
        self._write(message, row.counter_at, counter % row.counts)
        if self._mode == "nibble":
            at = self._offset + row.counter_at.at
            message[at] = message[at] & 15 | self._ids[0] >> 4 & 0xF0
        if row.length_at:
            self._write(message, row.length_at, self._length)
        if row.data_id:
            self._write(message, row.data_id, self._ids[0])
        self._write(message, row.crc_at, self._checksum(message))

    def check(self, message: bytes) -> int | None:
        """Give the counter of a message, or None where it is not the one that was protected."""
        if len(message) != self._length:
            return None
        counter = self._read(message, self.profile.counter_at)
        if counter >= self.profile.counts:
            return None
        expected = bytearray(message)
        self.protect(expected, counter)
        return counter if expected == message else None

    def _written(self) -> list[Place]:
        row = self.profile
        return [place for place in (row.crc_at, row.counter_at, row.length_at, row.data_id) if place]

    def _checksum(self, message: bytearray) -> int:
        row, at = self.profile, self._offset + self.profile.crc_at.at
        body = bytes(message[:at] + message[at + row.crc_at.size :])
        if row.data_id:
            return row.crc(body)
        counter = self._read(message, row.counter_at)
        number = self._ids[counter if row.listed else 0]
        identity = number.to_bytes(row.id_bytes, row.order)
        if self._mode == "nibble":
            identity = identity[:1] + b"\0"
        elif self._mode == "low":
            identity = identity[:1]
        elif self._mode == "alt":
            identity = identity[counter % 2 :][:1]
        return row.crc(identity + body if row.prefixed else body + identity)

    def _write(self, message: bytearray, place: Place, value: int) -> None:
        at = self._offset + place.at
        if place.nibble:
            message[at] = message[at] & 0xF0 | value
        else:
            message[at : at + place.size] = value.to_bytes(place.size, self._order(place))

    def _read(self, message: bytes | bytearray, place: Place) -> int:
        at = self._offset + place.at
        return message[at] & 15 if place.nibble else int.from_bytes(message[at : at + place.size], self._order(place))

    def _order(self, place: Place) -> Literal["little", "big"]:
        return self.profile.order if place is self.profile.crc_at else "big"

    @staticmethod
    def _checked(profile: int, row: Profile, given: int | Sequence[int]) -> tuple[int, ...]:
        ids = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        most = (1 << 8 * row.id_bytes) - 1
        wanted = f"a list of {IDS} numbers" if row.listed else "one number"
        if len(ids) != (IDS if row.listed else 1) or not all(type(each) is int and 0 <= each <= most for each in ids):
            raise WireError(f"the data_id of E2E profile {profile} is {wanted} in 0 … {most:#x}, not {given!r}")
        return ids
