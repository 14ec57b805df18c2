"""Everyone measured computes the same step of the same spring."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.cli.benches import oscillator


def test_the_kernel_is_a_damped_spring():
    x, v = np.ones(3, np.float32), np.zeros(3, np.float32)
    sn.launch(oscillator.step, dim=3, inputs=[x, v, 100.0, 0.5, 1e-2])
    np.testing.assert_array_equal(v, np.full(3, np.float32(1e-2) * np.float32(-100.0)))
    np.testing.assert_array_equal(x, np.float32(1) + np.float32(1e-2) * v)


@pytest.mark.parametrize("peer", ["expression", "numba"])
def test_peers_step_the_same_spring(peer):
    step = oscillator.expression
    if peer == "numba":
        pytest.importorskip("numba", reason="make setup BENCH=1 brings numba")
        _, step = oscillator.numba()
    scalars = tuple(map(np.float32, oscillator.SCALARS))
    (x, v), (a, b) = oscillator.state(100), oscillator.state(100)
    for _ in range(3):
        sn.launch(oscillator.step, dim=100, inputs=[x, v, *oscillator.SCALARS])
        step(a, b, *scalars)
    np.testing.assert_allclose(x, a, rtol=1e-6)
    np.testing.assert_allclose(v, b, rtol=1e-5)
    assert x[0] < 0.5 < 1.5 > x[99]


def test_warp_has_the_same_kernel():
    pytest.importorskip("warp", reason="make setup BENCH=1 brings warp-lang")
    wp, step = oscillator.warp()
    (x, v), (a, b) = oscillator.state(100), oscillator.state(100)
    sn.launch(oscillator.step, dim=100, inputs=[x, v, *oscillator.SCALARS])
    wp.launch(step, 100, inputs=[wp.array(a, copy=False), wp.array(b, copy=False), *oscillator.SCALARS], device="cpu")
    np.testing.assert_allclose(x, a, rtol=1e-6)
    np.testing.assert_allclose(v, b, rtol=1e-5)
