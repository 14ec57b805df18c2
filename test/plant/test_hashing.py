"""The hash that a kernel makes of a field is that of src/hash.h, on every device and whatever the size."""

from __future__ import annotations

import numpy as np
import pytest
from devices import COMPILED

from sim_node.dtypes import uint64
from sim_node.plant.hashing import SUMS, Hashed, hashing
from sim_node.runtime.creation import array, zeros

PHI, FIRST, SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def hash_of(words: np.ndarray, field: int) -> int:
    with np.errstate(over="ignore"):
        z = words + (np.uint64((field << 40) + 1) + np.arange(len(words), dtype=np.uint64)) * PHI
        z = (z ^ (z >> np.uint64(30))) * FIRST
        z = (z ^ (z >> np.uint64(27))) * SECOND
        return int(np.sum(z ^ (z >> np.uint64(31)), dtype=np.uint64))


@pytest.mark.parametrize("nbytes", [1, 8, 24, 8 * 31, 8 * 257 - 3, 8 * 300_000])
@COMPILED
@pytest.mark.parametrize("is_far", [False, True])
def test_sums_add_up_to_the_hash_of_the_host(device, nbytes, is_far):
    words = np.random.default_rng(nbytes).integers(0, 2**64, -(-nbytes // 8), np.uint64)
    closing = hashing(device, 4, [Hashed(2, nbytes, 7, is_far), Hashed(3, 8, 5, is_far=False)])
    assert closing.cells == (7, 5)
    plan = closing.plan
    plan.freeze()
    other = zeros(1, dtype=uint64, device=device)
    for cell, memory in zip(plan.cells, (array(words, dtype=uint64, device=device), other), strict=True):
        plan.point(cell, memory)
    plan.run()
    sums = np.array(closing.sums).reshape(5, SUMS)
    assert not sums[:2].any()
    assert int(np.sum(sums[2], dtype=np.uint64)) == hash_of(words, 2)
    assert int(np.sum(sums[3], dtype=np.uint64)) == hash_of(np.zeros(1, np.uint64), 3)
    assert np.sum(sums[4], dtype=np.uint64) == np.sum(sums[:4], dtype=np.uint64)


@COMPILED
def test_a_state_of_nothing_has_sums_of_nothing(device):
    closing = hashing(device, 3, [])
    assert not closing.plan.launches
    assert not np.array(closing.sums).any()
