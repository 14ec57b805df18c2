"""Matrix functions against numpy, in f64."""

import numpy as np
import pytest

import sim_node as sn

RANDOM = np.random.default_rng(8)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_square_matrices(n):
    kind = {2: sn.mat22d, 3: sn.mat33d, 4: sn.mat44d}[n]

    @sn.kernel
    def k(a: sn.array[kind], b: sn.array[kind], out: sn.array[kind], numbers: sn.array[sn.float64]):
        i = sn.tid()
        out[3 * i] = sn.transpose(a[i])
        out[3 * i + 1] = sn.inverse(a[i])
        out[3 * i + 2] = sn.diag(sn.get_diag(a[i])) + sn.outer(a[i][0], b[i][1])
        numbers[3 * i] = sn.determinant(a[i])
        numbers[3 * i + 1] = sn.ddot(a[i], b[i])
        numbers[3 * i + 2] = sn.trace(a[i])

    a, b = RANDOM.normal(0, 1, (50, n, n)), RANDOM.normal(0, 1, (50, n, n))
    a[0] = 0.0
    out, numbers = np.zeros((50, 3, n, n)), np.zeros((50, 3))
    sn.launch(k, 50, inputs=[a, b, out.reshape(-1, n, n), numbers.reshape(-1)])
    np.testing.assert_array_equal(out[:, 0], a.transpose(0, 2, 1))
    np.testing.assert_array_equal(out[0, 1], 0.0)
    conditions = np.linalg.cond(a[1:])
    error = np.abs(out[1:, 1] @ a[1:] - np.eye(n)).max((1, 2))
    assert (error < 1e-14 * conditions**2).all()
    diagonal = np.einsum("nii->ni", a)[:, :, None] * np.eye(n)
    np.testing.assert_allclose(out[:, 2], diagonal + a[:, 0, :, None] * b[:, 1, None, :], atol=1e-14)
    wanted = np.stack([np.linalg.det(a), (a * b).sum((1, 2)), np.trace(a, axis1=1, axis2=2)], 1)
    np.testing.assert_allclose(numbers, wanted, atol=1e-13)


def test_skew_is_the_cross_product():
    @sn.kernel
    def k(v: sn.array[sn.vec3d], out: sn.array[sn.vec3d]):
        out[0] = sn.skew(v[0]) * v[1]

    v, out = RANDOM.normal(0, 1, (2, 3)), np.zeros((1, 3))
    sn.launch(k, 1, inputs=[v, out])
    np.testing.assert_allclose(out[0], np.cross(*v), atol=1e-15)
