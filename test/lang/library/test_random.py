"""Random numbers: Warp's values, their distributions, and the same ones on the host and in a kernel."""

import math

import numpy as np
import pytest

import sim_node as sn
from sim_node.lang.library import random

# What a stream gives first and second, on the host; the second in the state that the first leaves.
DRAWS = {
    "randi": ((), np.int32),
    "randu": ((), np.uint32),
    "randf": ((), np.float32),
    "randn": ((), np.float32),
    "poisson": ((np.float32(42.0),), np.uint32),
}


@sn.kernel
def draw(seed: int, i32: sn.array[int], u32: sn.array[sn.uint32], f32: sn.array[float]):
    i = sn.tid()
    state = sn.rand_init(seed, i)
    i32[2 * i] = sn.randi(state)
    i32[2 * i + 1] = sn.randi(state, 0, 100)
    u32[2 * i] = sn.randu(state)
    u32[2 * i + 1] = sn.randu(state, sn.uint32(0), sn.uint32(100))
    f32[2 * i] = sn.randf(state)
    f32[2 * i + 1] = sn.randf(state, 0.0, 100.0)


def test_the_numbers_are_warps():
    """The values are those that Warp's own tests expect."""
    i32, u32, f32 = np.zeros((10, 2), np.int32), np.zeros((10, 2), np.uint32), np.zeros((10, 2), np.float32)
    sn.launch(draw, 10, inputs=[42, i32.reshape(-1), u32.reshape(-1), f32.reshape(-1)])
    np.testing.assert_array_equal(i32[:4], [[-575632308, 46], [59537738, 58], [1898992239, 46], [442961864, 83]])
    np.testing.assert_array_equal(u32[:3], [[3133687854, 6], [3702303309, 55], [1235698096, 2]])
    np.testing.assert_allclose(f32[:3], [[0.8265858, 79.84678], [0.5874614, 76.362206], [0.1508659, 32.135242]], 1e-6)


@sn.kernel
def two(seed: int, lam: float, normal: sn.array[float], counts: sn.array[sn.uint32], states: sn.array[sn.uint32]):
    i = sn.tid()
    state = sn.rand_init(seed, i)
    normal[i] = sn.randn(state)
    counts[i] = sn.poisson(state, lam)
    states[i] = state


@pytest.mark.parametrize("lam", [0.0, 0.5, 3.0, 9.9, 10.0, 12.0, 100.0])
def test_distributions(lam):
    count = 40_000
    normal, counts, states = np.zeros(count, np.float32), np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    sn.launch(two, count, inputs=[11, lam, normal, counts, states])
    error = 5 / math.sqrt(count)
    assert abs(normal.mean()) < error
    assert abs(normal.std() - 1) < error
    for bound, below in ((-2.0, 0.0227501), (-1.0, 0.1586553), (0.5, 0.6914625), (1.5, 0.9331928)):
        assert abs((normal < bound).mean() - below) < error
    assert abs(counts.mean() - lam) <= error * math.sqrt(lam)
    assert abs(counts.var() - lam) <= error * lam * 3
    assert abs((counts == 0).mean() - math.exp(-lam)) < error
    with np.errstate(all="ignore"):
        for i in range(20):
            state = sn.rand_init(np.int32(11), np.int32(i))
            value, state = random.randn.function(state)
            assert value == normal[i]
            value, state = random.poisson.function(state, np.float32(lam))
            assert value == counts[i]
            assert state == states[i]


def test_a_call_moves_the_variable_on_and_no_other():
    @sn.func
    def twice(state: sn.uint32):
        return sn.randu(state), sn.randu(state)

    @sn.kernel
    def k(states: sn.array[sn.uint32], out: sn.array[sn.uint32]):
        state = states[0]
        other = state
        a, b = twice(state)
        out[0], out[1] = a, b
        out[2], out[3] = sn.randu(state), sn.randu(state)
        out[4] = sn.randu(states[0])
        out[5] = sn.randu(other) if out[0] == a else sn.uint32(0)
        for _ in range(2):
            sn.randu(other)
        out[6] = sn.randu(other)

    states, out = np.array([7], np.uint32), np.zeros(7, np.uint32)
    sn.launch(k, 1, inputs=[states, out])
    first = out[0]
    assert out[1] != first
    np.testing.assert_array_equal(out[:2], out[2:4])
    np.testing.assert_array_equal(out[4:6], [first, first])
    assert len(set(out[[0, 1, 6]])) == 3
    assert states[0] == 7
    onpython = np.zeros(7, np.uint32)
    sn.launch(k, 1, inputs=[states, onpython], device="python")
    np.testing.assert_array_equal(onpython, out)


def test_cumulated_probabilities_are_met():
    @sn.kernel
    def k(cdf: sn.array[float], out: sn.array[int]):
        i = sn.tid()
        state = sn.rand_init(3, i)
        out[i] = sn.sample_cdf(state, cdf)

    cdf, out = np.array([0.1, 0.1, 0.6, 1.0], np.float32), np.zeros(20_000, np.int32)
    sn.launch(k, len(out), inputs=[cdf, out])
    shares = np.bincount(out, minlength=4) / len(out)
    np.testing.assert_allclose(shares, [0.1, 0.0, 0.5, 0.4], atol=0.02)


def test_logarithms_of_factorials():
    for k in (0, 1, 2, 5, 6, 7, 20, 100):
        assert abs(random.log_factorial(np.float32(k)) - math.lgamma(k + 1)) < 2e-6 * max(1.0, math.lgamma(k + 1))
