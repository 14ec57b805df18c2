"""Spatial algebra: power does not depend on the frame, and the cross products are each other's dual."""

import numpy as np

import sim_node as sn


@sn.kernel
def check(q: sn.array[sn.quat], x: sn.array[sn.spatial_vector], out: sn.array[float]):
    i = sn.tid()
    t = sn.transform(sn.spatial_top(x[3 * i + 2]), sn.normalize(q[i]))
    a, b, c = x[3 * i], x[3 * i + 1], x[3 * i + 2]
    out[3 * i] = sn.spatial_dot(sn.transform_twist(t, a), sn.transform_wrench(t, b)) - sn.spatial_dot(a, b)
    out[3 * i + 1] = sn.spatial_dot(sn.spatial_cross(a, b), c) + sn.spatial_dot(b, sn.spatial_cross_dual(a, c))
    r, s = sn.quat_to_matrix(sn.normalize(q[i])), sn.skew(sn.spatial_top(a))
    d = sn.spatial_adjoint(r, s) * b
    out[3 * i + 2] = sn.length(sn.spatial_bottom(d) - s * sn.spatial_top(b) - r * sn.spatial_bottom(b))


def test_laws():
    random = np.random.default_rng(10)
    q, x = random.normal(0, 1, (50, 4)).astype(np.float32), random.normal(0, 1, (150, 6)).astype(np.float32)
    out = np.ones((50, 3), np.float32)
    sn.launch(check, 50, inputs=[q, x, out.reshape(-1)])
    np.testing.assert_allclose(out, 0.0, atol=2e-5)
