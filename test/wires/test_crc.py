"""Each CRC against the check value that AUTOSAR's specification publishes for it."""

import pytest

from sim_node.wires.crc import CRCS

CHECKS = {  # of "123456789": SWS_Crc
    "CRC8": 0x4B,
    "CRC8H2F": 0xDF,
    "CRC16": 0x29B1,
    "CRC16ARC": 0xBB3D,
    "CRC32": 0xCBF43926,
    "CRC32P4": 0x1697D06A,
    "CRC64": 0x995DC9BBDF1939FA,
}


@pytest.mark.parametrize("name", CRCS)
def test_the_published_check_value(name):
    assert CRCS[name](b"123456789") == CHECKS[name]
