"""Transforms and their matrices move points alike."""

import numpy as np

import sim_node as sn


@sn.kernel
def move(q: sn.array[sn.quat], p: sn.array[sn.vec3], out: sn.array[sn.vec3]):
    i = sn.tid()
    t = sn.transform(p[i], sn.normalize(q[i]))
    m = sn.transform_to_matrix(t)
    v = sn.vec3(1.0, 2.0, 3.0)
    out[4 * i] = sn.transform_point(t, v) - sn.transform_point(m, v)
    out[4 * i + 1] = sn.transform_point(sn.transform_inverse(sn.transform_from_matrix(m)), sn.transform_point(m, v)) - v
    out[4 * i + 2] = sn.transform_vector(t, v) - sn.transform_vector(m, v)
    scaled = sn.transform_compose(p[i], sn.normalize(q[i]), v)
    position, rotation, scale = sn.transform_decompose(scaled)
    out[4 * i + 3] = scale - v + sn.quat_rotate(rotation, v) - sn.quat_rotate(sn.normalize(q[i]), v) + position - p[i]


def test_transforms():
    random = np.random.default_rng(9)
    q, p = random.normal(0, 1, (50, 4)).astype(np.float32), random.normal(0, 1, (50, 3)).astype(np.float32)
    out = np.ones((50, 4, 3), np.float32)
    sn.launch(move, 50, inputs=[q, p, out.reshape(-1, 3)])
    np.testing.assert_allclose(out, 0.0, atol=1e-5)


def test_parts_are_replaced():
    @sn.kernel
    def k(out: sn.array[sn.transform], angles: sn.array[float]):
        t = sn.transform_identity()
        out[0] = t
        sn.transform_set_translation(t, sn.vec3(1.0, 2.0, 3.0))
        sn.transform_set_rotation(t, sn.quat_from_axis_angle(sn.vec3(0.0, 1.0, 0.0), -0.5))
        out[1] = t
        axis, angle = sn.vec3(), 0.0
        sn.quat_to_axis_angle(sn.transform_get_rotation(t), axis, angle)
        angles[0], angles[1] = axis[1] * angle, sn.quat_identity()[3]

    out, angles = np.zeros((2, 7), np.float32), np.zeros(2, np.float32)
    sn.launch(k, 1, inputs=[out, angles])
    np.testing.assert_array_equal(out[0], [0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_allclose(out[1], [1, 2, 3, 0, -np.sin(0.25), 0, np.cos(0.25)], atol=1e-7)
    np.testing.assert_allclose(angles, [-0.5, 1.0], atol=1e-6)
