"""A DBC file's message as bytes, with the counter, checksum and protection that receivers check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cantools.database.can.message import Message

from sim_node.wires.crc import Crc
from sim_node.wires.e2e import Protection
from sim_node.wires.scaling import Scaling


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum in a signal of its own, of all other bytes; ``at`` is its first byte, the highest where ``big``."""

    signal: str
    crc: Crc
    at: int
    big: bool

    def put(self, content: bytearray) -> None:
        """Write the checksum into the content."""
        size = self.crc.bits // 8
        value = self.crc(bytes(content[: self.at] + content[self.at + size :]))
        content[self.at : self.at + size] = value.to_bytes(size, "big" if self.big else "little")


@dataclass(frozen=True, slots=True)
class Coding:
    """What makes a message's bytes of its signals and reads them. ``counter`` is a signal that counts messages.

    ``scalings`` has every signal of the message.
    """

    message: Message
    scalings: Mapping[str, Scaling]
    counter: str = ""
    checksum: Checksum | None = None
    protection: Protection | None = None

    @property
    def counts(self) -> int:
        """How many values the counter has; 0: there is none."""
        if self.protection is not None:
            return self.protection.profile.counts
        return int(self.scalings[self.counter].raw_high) + 1 if self.counter else 0

    def encode(self, raw: Mapping[str, float], count: int) -> bytes:
        """Make the bytes of the raw values of signals, where those not given are initial; ``count`` is of messages."""
        values = {name: scaling.initial for name, scaling in self.scalings.items()} | dict(raw)
        if self.counter:
            values[self.counter] = count % (int(self.scalings[self.counter].raw_high) + 1)
        content = bytearray(self.message.encode(values, scaling=False, strict=False))
        if self.checksum is not None:
            self.checksum.put(content)
        if self.protection is not None:
            self.protection.protect(content, count)
        return bytes(content)

    def decode(self, content: bytes) -> tuple[dict[str, float], int] | None:
        """Read the raw values of a message and its count, 0 without a counter; None where it is not what was sent."""
        if len(content) < self.message.length:
            return None
        content = content[: self.message.length]
        count = 0
        if self.protection is not None:
            checked = self.protection.check(content)
            if checked is None:
                return None
            count = checked
        if self.checksum is not None:
            expected = bytearray(content)
            self.checksum.put(expected)
            if expected != content:
                return None
        values: dict[str, float] = self.message.decode(content, decode_choices=False, scaling=False)
        return values, int(values[self.counter]) if self.counter else count
