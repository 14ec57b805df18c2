"""The bench of launches measures what it says, with peers or without."""

import sys

import numpy as np

import sim_node as sn
from sim_node.cli.benches import launch


def test_the_kernel_is_the_spring():
    x, v = np.ones(3, np.float32), np.zeros(3, np.float32)
    sn.launch(launch.spring, dim=3, inputs=[x, v, 100.0, 0.5, 1e-2])
    np.testing.assert_array_equal(v, np.full(3, np.float32(1e-2) * np.float32(-100.0)))
    np.testing.assert_array_equal(x, np.float32(1) + np.float32(1e-2) * v)


def test_absent_peers_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(launch, "per_call_us", lambda call, **_: (call(), 2.0)[1])
    measured = launch.run()
    assert {"launch_us_1", "launch_us_1024", "plan_us_1", "plan_us_1024"} == set(measured.figures)
    assert all("BENCH=1" in measured.peers[name]["absent"] for name in ("warp", "numba"))
    assert measured.ratios == {"vs_ctypes": 1.0}
