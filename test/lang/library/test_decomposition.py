"""Decompositions multiply back to the matrix and are rotations, also of matrices without full rank."""

import numpy as np

import sim_node as sn


@sn.kernel
def decompose(a: sn.array[sn.mat33d], out: sn.array[sn.mat33d], sigma: sn.array[sn.vec3d]):
    i = sn.tid()
    u, s, v = sn.mat33d(), sn.vec3d(), sn.mat33d()
    sn.svd3(a[i], u, s, v)
    out[5 * i], out[5 * i + 1], sigma[2 * i] = u, v, s
    q, r = sn.qr3(a[i])
    out[5 * i + 2], out[5 * i + 3] = q, r
    e, d = sn.eig3(a[i] + sn.transpose(a[i]))
    out[5 * i + 4], sigma[2 * i + 1] = e, d


def samples():
    a = np.random.default_rng(3).normal(0, 1, (200, 3, 3))
    a[0], a[1], a[2], a[3] = 0, np.eye(3), np.outer([1, 2, 3], [3, 2, 1]), 1
    a[4], a[5] = np.diag([1, 1, -5.0]), [[1, 1, 0], [0, 1e-12, 0], [0, 0, 1e-20]]
    a[6] *= 1e100
    a[7] *= 1e-100
    return a


def flipped(m):
    return m.transpose(0, 2, 1)


def test_three_by_three():
    a = samples()
    out, sigma = np.zeros((200, 5, 3, 3)), np.zeros((200, 2, 3))
    sn.launch(decompose, 200, inputs=[a, out.reshape(-1, 3, 3), sigma.reshape(-1, 3)])
    u, v, q, r, e = (out[:, at] for at in range(5))
    size = np.linalg.norm(a, axis=(1, 2))[:, None, None]
    size[0] = 1.0
    for rotation in (u, v, q, e):
        np.testing.assert_allclose(rotation @ flipped(rotation), np.broadcast_to(np.eye(3), a.shape), atol=4e-15)
    for rotation in (u, v):
        np.testing.assert_allclose(np.linalg.det(rotation), 1.0, atol=4e-15)
    assert np.abs(((u * sigma[:, 0, None]) @ flipped(v) - a) / size).max() < 4e-15
    assert np.abs((np.abs(sigma[:, 0]) - np.linalg.svd(a)[1]) / size[:, 0]).max() < 4e-15
    assert (np.diff(np.abs(sigma[:, 0]), axis=1) <= 0).all()
    assert np.abs((q @ r - a) / size).max() < 4e-15
    np.testing.assert_array_equal(np.tril(r, -1), 0.0)
    assert np.abs(((e * sigma[:, 1, None]) @ flipped(e) - a - flipped(a)) / size).max() < 8e-15


def test_two_by_two():
    @sn.kernel
    def k(a: sn.array[sn.mat22d], out: sn.array[sn.mat22d], sigma: sn.array[sn.vec2d]):
        i = sn.tid()
        u, s, v = sn.svd2(a[i])
        out[2 * i], out[2 * i + 1], sigma[i] = u, v, s

    a = np.ascontiguousarray(samples()[:, :2, :2])
    out, sigma = np.zeros((200, 2, 2, 2)), np.zeros((200, 2))
    sn.launch(k, 200, inputs=[a, out.reshape(-1, 2, 2), sigma])
    u, v = out[:, 0], out[:, 1]
    size = np.maximum(np.linalg.norm(a, axis=(1, 2)), 1e-300)[:, None, None]
    assert np.abs(((u * sigma[:, None]) @ flipped(v) - a) / size).max() < 4e-15
    np.testing.assert_allclose(np.linalg.det(u), 1.0, atol=4e-15)
    np.testing.assert_allclose(np.linalg.det(v), 1.0, atol=4e-15)
