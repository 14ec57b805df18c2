"""Rotations that change nothing, and what others turn about."""

import numpy as np

import sim_node as sn


def test_identities_and_axes():
    @sn.kernel
    def k(q: sn.array[sn.quat], out: sn.array[float]):
        same = sn.quat_identity() * q[0]
        wide = sn.quat_identity(dtype=sn.float64)
        still = sn.transform_multiply(sn.transform_identity(), sn.transform_identity())
        axis, angle = sn.quat_to_axis_angle(same)
        out[0] = angle
        out[1] = axis[1]
        again, turn = sn.vec3(), 0.0
        sn.quat_to_axis_angle(-q[0], again, turn)
        out[2] = turn
        out[3] = again[1]
        out[4] = float(wide[3]) + still[6]

    q = np.array([[0, np.sin(0.5), 0, np.cos(0.5)]], np.float32)
    out = np.zeros(5, np.float32)
    sn.launch(k, 1, inputs=[sn.array(q, dtype=sn.quat), out])
    np.testing.assert_allclose(out, [1, 1, 1, 1, 2], rtol=1e-6)


def test_matrices_go_element_by_element():
    @sn.kernel
    def k(m: sn.array[sn.mat22], out: sn.array[sn.mat22]):
        out[0] = sn.cw_mul(m[0], m[1])
        out[1] = sn.cw_div(m[0], m[1])
        sn.expect_near(out[0], sn.cw_mul(m[1], m[0]))

    m = np.array([[[1, 2], [3, 4]], [[2, 4], [8, 16]]], np.float32)
    out = np.zeros_like(m)
    sn.launch(k, 1, inputs=[m, out])
    np.testing.assert_array_equal(out, [m[0] * m[1], m[0] / m[1]])
