"""Norms against their definitions, on the host and in a kernel."""

import numpy as np
import pytest

import sim_node as sn


@sn.kernel
def norms(v: sn.array[sn.vec3d], delta: sn.float64, out: sn.array[sn.float64], smooth: sn.array[sn.vec3d]):
    i = sn.tid()
    out[4 * i] = sn.norm_l1(v[i])
    out[4 * i + 1] = sn.norm_l2(v[i])
    out[4 * i + 2] = sn.norm_huber(v[i], delta)
    out[4 * i + 3] = sn.norm_pseudo_huber(v[i], delta)
    smooth[i] = sn.smooth_normalize(v[i], delta)


@pytest.mark.parametrize("delta", [0.5, 1.0, 3.0])
def test_norms(delta):
    v = np.random.default_rng(1).normal(0, 2, (100, 3))
    out, smooth = np.zeros((100, 4)), np.zeros((100, 3))
    sn.launch(norms, 100, inputs=[v, delta, out.reshape(-1), smooth])
    size = np.linalg.norm(v, axis=1)
    pseudo = delta * np.sqrt(1 + (size / delta) ** 2)
    huber = np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))
    wanted = np.stack([np.abs(v).sum(1), size, huber, pseudo], 1)
    np.testing.assert_allclose(out, wanted, rtol=1e-15)
    np.testing.assert_allclose(smooth, v / pseudo[:, None], rtol=1e-15)
    for row, got in zip(v, out, strict=True):
        host = sn.norm_l1(row), sn.norm_l2(row), sn.norm_huber(row, delta), sn.norm_pseudo_huber(row, delta)
        np.testing.assert_array_equal(host, got)
