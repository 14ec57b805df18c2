"""The checksums of AUTOSAR's CRC library.

Names, polynomials and check values: AUTOSAR, "Specification of CRC Routines", R23-11 (SWS_Crc).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Crc:
    """A cyclic redundancy check: ``xor`` is the start value and what the result is combined with, all ones or 0.

    ``reflected`` takes and gives bits from the lowest on. Call it with bytes.
    """

    bits: int
    polynomial: int
    start: int
    xor: int
    reflected: bool = False
    _table: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_table", tuple(map(self._of_byte, range(256))))

    def __call__(self, message: bytes) -> int:
        """Compute the checksum of a message."""
        value, table = self.start, self._table
        if self.reflected:
            for byte in message:
                value = table[(value ^ byte) & 255] ^ value >> 8
        else:
            shift, mask = self.bits - 8, (1 << self.bits) - 1
            for byte in message:
                value = table[value >> shift ^ byte] ^ value << 8 & mask
        return value ^ self.xor

    def _of_byte(self, byte: int) -> int:
        if self.reflected:
            polynomial = int(f"{self.polynomial:0{self.bits}b}"[::-1], 2)
            for _ in range(8):
                byte = byte >> 1 ^ (polynomial if byte & 1 else 0)
            return byte
        value, top = byte << self.bits - 8, 1 << self.bits - 1
        for _ in range(8):
            value = value << 1 ^ (self.polynomial if value & top else 0)
            value &= (top << 1) - 1
        return value


ONES8, ONES16, ONES32, ONES64 = ((1 << bits) - 1 for bits in (8, 16, 32, 64))

CRCS = {
    "CRC8": Crc(8, 0x1D, ONES8, ONES8),  # SAE J1850
    "CRC8H2F": Crc(8, 0x2F, ONES8, ONES8),
    "CRC16": Crc(16, 0x1021, ONES16, 0),  # CCITT-FALSE
    "CRC16ARC": Crc(16, 0x8005, 0, 0, reflected=True),
    "CRC32": Crc(32, 0x04C11DB7, ONES32, ONES32, reflected=True),  # IEEE 802.3
    "CRC32P4": Crc(32, 0xF4ACFB13, ONES32, ONES32, reflected=True),
    "CRC64": Crc(64, 0x42F0E1EBA9EA3693, ONES64, ONES64, reflected=True),  # ECMA
}
# Profiles 1 and 11 start their CRC8 as if it went on from a message before, which undoes both combinations.
CRC8_PLAIN = Crc(8, 0x1D, 0, 0)
