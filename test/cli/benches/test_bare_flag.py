"""The bare kernel that sets a flag: it ends only when the flag is seen, and leaves its count in every word."""

import ctypes

import numpy as np
import pytest
from devices import GPU

from sim_node.cli.benches import bare_flag


@pytest.mark.parametrize("device", [GPU], indirect=True)
@pytest.mark.parametrize("words", [1, 255, 3000])
def test_every_word_has_the_count_when_the_flag_is_seen(device, words, monkeypatch):
    taken = []
    pinned = type(device).pinned

    def kept(self, nbytes):
        taken.append(pinned(self, nbytes))
        return taken[-1]

    monkeypatch.setattr(type(device), "pinned", kept)
    with bare_flag.bare_flag(device, 4 * words) as signal:
        for count in (1, 2, 3):
            signal()
            found = np.frombuffer(taken[0], np.uint32)
            assert found[0] == count
            assert found[16:].tolist() == [count] * words


def test_the_flag_has_a_cache_line_of_its_own():
    assert bare_flag._LINE >= 64
    assert bare_flag._LINE % ctypes.sizeof(ctypes.c_uint32) == 0
