"""Launches of many threads, of which a GPU runs two side by side: every size, and the first error, as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from devices import COMPILED, on

import sim_node as sn
from sim_node.errors import KernelError

FROM = 132 * 2048 * 2  # an H200's; a simulated GPU begins earlier
F = sn.array(dtype=sn.float32)


@sn.kernel
def move(x: F, v: F, dt: sn.float32):
    i = sn.tid()
    v[i] = v[i] - dt * x[i]
    x[i] = x[i] + dt * v[i]


@sn.kernel
def shift(x: F, y: F):
    i = sn.tid()
    y[i] = x[i + 1]


@pytest.mark.parametrize("n", [FROM - 1, FROM, FROM + 1, FROM + 255, FROM + 256, FROM + 257, 2 * FROM + 300])
@COMPILED
def test_every_thread_runs_once(device, n):
    random = np.random.default_rng(n)
    x, v = (random.standard_normal(n, dtype=np.float32) for _ in range(2))
    there = [on(device, x.copy()), on(device, v.copy())]
    for _ in range(2):
        sn.launch(move, dim=n, inputs=[*there, 0.25], device=device)
        v -= np.float32(0.25) * x
        x += np.float32(0.25) * v
    assert np.array_equal(np.array(there[0]), x)
    assert np.array_equal(np.array(there[1]), v)


@pytest.mark.parametrize("missing", [1, 2, 255, 256, 257, FROM // 2])
@COMPILED
def test_the_first_thread_at_fault_is_told_and_those_before_it_ran(device, missing):
    n = FROM + 1000
    x = np.arange(n + 1 - missing, dtype=np.float32)
    y = on(device, np.zeros(n, np.float32))
    first = n - missing
    with pytest.raises(KernelError, match=f"index {first + 1} is outside array 'x' of length {first + 1}") as caught:
        sn.launch(shift, dim=n, inputs=[on(device, x)], outputs=[y], device=device)
    assert caught.value.thread == first
    assert np.array_equal(np.array(y)[:first], x[1 : first + 1])
