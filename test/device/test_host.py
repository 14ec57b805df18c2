import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node.device.host import ALIGNMENT, Host


@given(st.integers(0, 1000), st.booleans())
def test_memory_has_its_size_and_alignment(nbytes, zeroed):
    memory = Host().allocate(nbytes, zeroed)
    view = np.frombuffer(memory, np.uint8)
    assert memory.nbytes == nbytes
    assert view.ctypes.data % ALIGNMENT == 0 or nbytes == 0
    assert not zeroed or not view.any()
    assert not memory.readonly


def test_memory_outlives_the_block_it_was_cut_from():
    memory = Host().allocate(1 << 20, zeroed=True)
    memory[-1] = 7
    assert memory[-1] == 7


def test_too_much_memory_is_named():
    with pytest.raises(MemoryError, match=f"device 'cpu' cannot allocate {1 << 60} bytes"):
        Host().allocate(1 << 60)


def test_the_host_says_what_it_is():
    host = Host()
    assert (host.alias, host.is_cpu, host.is_cuda) == ("cpu", True, False)
