"""The numpy hash is the one that ARCHITECTURE.md defines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim_node.replay.hashes import field_hashes

WORD = (1 << 64) - 1


def by_definition(data: bytes, field: int) -> int:
    total = 0
    for i in range(0, len(data), 8):
        word = int.from_bytes(data[i : i + 8].ljust(8, b"\0"), "little")
        z = (word + (field * 2**40 + i // 8 + 1) * 0x9E3779B97F4A7C15) & WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        total += z ^ (z >> 31)
    return total & WORD


@given(st.binary(max_size=70), st.integers(1, 3), st.integers(0, 1000))
def test_agrees_with_the_definition(data, count, field):
    rows = np.tile(np.frombuffer(data, np.uint8), (count, 1))
    assert field_hashes(rows, field).tolist() == [by_definition(data, field)] * count


def test_a_large_row_is_hashed_in_blocks_to_the_same_sum(monkeypatch):
    data = np.random.default_rng(0).integers(0, 256, (2, 999), dtype=np.uint8)
    whole = field_hashes(data, 5)
    monkeypatch.setattr("sim_node.replay.hashes._BLOCK", 16)
    assert (field_hashes(data, 5) == whole).all()
