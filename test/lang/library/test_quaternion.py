"""Quaternions rotate as their matrices do, and every way there has a way back."""

import numpy as np
import pytest

import sim_node as sn


@sn.kernel
def turns(q: sn.array[sn.quat], v: sn.array[sn.vec3], m: sn.array[sn.mat33], out: sn.array[sn.vec3]):
    i = sn.tid()
    m[i] = sn.quat_to_matrix(q[i])
    out[2 * i] = sn.quat_rotate(q[i], v[i])
    out[2 * i + 1] = sn.quat_rotate_inv(q[i], out[2 * i])


@sn.kernel
def back(q: sn.array[sn.quat], i: int, j: int, k: int, out: sn.array[sn.quat]):
    n = sn.tid()
    angles = sn.quat_to_rpy(q[n])
    out[4 * n] = sn.quat_rpy(angles[0], angles[1], angles[2])
    out[4 * n + 1] = sn.quat_from_euler(sn.quat_to_euler(q[n], i, j, k), i, j, k)
    out[4 * n + 2] = sn.quat_from_matrix(sn.quat_to_matrix(q[n]))
    out[4 * n + 3] = sn.quat_slerp(sn.quat_from_axis_angle(sn.vec3(0.0, 0.0, 1.0), 0.5), q[n], 1.0)


def rotations():
    q = np.random.default_rng(6).normal(0, 1, (100, 4)).astype(np.float32)
    q[:4] = np.eye(4)
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def test_rotations():
    q, v = rotations(), np.random.default_rng(7).normal(0, 1, (100, 3)).astype(np.float32)
    m, out = np.zeros((100, 3, 3), np.float32), np.zeros((100, 2, 3), np.float32)
    sn.launch(turns, 100, inputs=[q, v, m, out.reshape(-1, 3)])
    np.testing.assert_allclose(np.linalg.det(m), 1.0, atol=2e-6)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", m, v), out[:, 0], atol=2e-6)
    np.testing.assert_allclose(out[:, 1], v, atol=4e-6)


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_ways_back(axes):
    q, out = rotations()[4:], np.zeros((96, 4, 4), np.float32)
    sn.launch(back, 96, inputs=[q, *axes, out.reshape(-1, 4)])
    same = np.abs(np.einsum("nmk,nk->nm", out, q))
    np.testing.assert_allclose(same, 1.0, atol=2e-6)


@sn.kernel
def turns_of_f64(q: sn.array[sn.quatd], axis: sn.vec3d, out: sn.array[sn.quatd]):
    i = sn.tid()
    angles = sn.quat_to_rpy(q[i])
    out[4 * i] = sn.quat_rpy(angles[0], angles[1], angles[2])
    out[4 * i + 1] = sn.quat_from_euler(sn.quat_to_euler(q[i], 0, 1, 2), 0, 1, 2)
    about, angle = sn.quat_to_axis_angle(q[i])
    out[4 * i + 2] = sn.quat_from_axis_angle(about, angle)
    out[4 * i + 3] = sn.quat_slerp(sn.quat_from_axis_angle(axis, sn.quat_twist_angle(axis, q[i])), q[i], sn.float64(1))


def test_angles_of_f64():
    q, out = rotations()[4:].astype(np.float64), np.zeros((96, 4, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    sn.launch(turns_of_f64, 96, [q, sn.vec3d(0, 0, 1)], [out.reshape(-1, 4)])
    np.testing.assert_allclose(np.abs(np.einsum("nmk,nk->nm", out, q)), 1.0, atol=1e-14)
