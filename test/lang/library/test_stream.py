"""Random streams are Warp's, on the host as in a kernel."""

import numpy as np

import sim_node as sn
from sim_node.lang.library import stream


@sn.kernel
def draw(seed: int, states: sn.array[sn.uint32], bits: sn.array[sn.uint32], numbers: sn.array[float]):
    i = sn.tid()
    states[i] = sn.rand_init(seed, i)
    bits[i] = stream.advance(states[i])
    numbers[i] = stream.unit(bits[i])


def test_streams_are_warps():
    states, bits, numbers = np.zeros(10, np.uint32), np.zeros(10, np.uint32), np.zeros(10, np.float32)
    sn.launch(draw, 10, inputs=[42, states, bits, numbers])
    # what Warp's own tests expect of its first numbers
    wanted = [-575632308, 59537738, 1898992239, 442961864, -1069147335]
    np.testing.assert_array_equal(bits.view(np.int32)[:5], wanted)
    np.testing.assert_array_equal(numbers, (bits >> 8) / np.float32(2**24))
    with np.errstate(over="ignore"):
        for state, bit, number in zip(states, bits, numbers, strict=True):
            assert stream.advance(state) == bit
            assert stream.unit(bit) == number


def test_the_step_forgets_nothing_quickly():
    """The period of the step from one start is long, and its bits are even."""
    state, seen = np.uint32(1), []
    with np.errstate(over="ignore"):
        for _ in range(4096):
            state = stream.advance(state)
            seen.append(int(state))
    assert len(set(seen)) == len(seen)
    ones = [sum(number >> bit & 1 for number in seen) / len(seen) for bit in range(32)]
    assert max(abs(share - 0.5) for share in ones) < 0.04
