"""Vector funcs in plain Python, on the arrays that stand for vectors there."""

import numpy as np
import pytest

import sim_node as sn


@pytest.mark.parametrize("make", [sn.vec2, sn.vec3, sn.vec4d])
def test_dot_and_length(make):
    parts = [1.0, -2.0, 3.0, 5.0][: make.length]
    v = make(*parts)
    assert sn.dot(v, v) == sn.length_sq(v) == sum(part * part for part in parts)
    assert sn.length(v) == np.sqrt(make.numpy.type(sn.length_sq(v)))
    np.testing.assert_array_equal(sn.normalize(v), v / sn.length(v))


def test_cross():
    np.testing.assert_array_equal(sn.cross(sn.vec3d(1, 0, 0), sn.vec3d(0, 1, 0)), [0.0, 0.0, 1.0])


def test_a_vector_of_length_zero_stays_zero():
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(sn.normalize(sn.vec3(0.0, -0.0, 0.0)), [0.0, 0.0, 0.0])


@sn.kernel
def parts(a: sn.array[sn.vec4], b: sn.array[sn.vec4], n: sn.array[sn.vec3i], out: sn.array[sn.vec4], at: sn.array[int]):
    i = sn.tid()
    out[6 * i + 0] = sn.cw_mul(a[i], b[i])
    out[6 * i + 1] = sn.cw_div(a[i], b[i])
    out[6 * i + 2] = sn.min(a[i], b[i])
    out[6 * i + 3] = sn.max(a[i], b[i])
    out[6 * i + 4] = sn.abs(a[i])
    out[6 * i + 5] = sn.vec4(sn.min(a[i]), sn.max(a[i]), sn.norm_l1(a[i]), sn.norm_huber(a[i], 2.0))
    at[2 * i] = int(sn.argmin(n[i]))
    at[2 * i + 1] = int(sn.argmax(n[i]))
    n[i] = sn.cw_div(n[i], sn.vec3i(2, -2, 3))


def test_what_goes_component_by_component():
    random = np.random.default_rng(2)
    a, b = (random.normal(0, 3, (50, 4)).astype(np.float32) for _ in range(2))
    n = random.integers(-9, 9, (50, 3), np.int32)
    before, out, at = n.copy(), np.zeros((50, 6, 4), np.float32), np.zeros((50, 2), np.int32)
    sn.launch(parts, 50, inputs=[a, b, n, out.reshape(-1, 4), at.reshape(-1)])
    for row, wanted in enumerate([a * b, a / b, np.minimum(a, b), np.maximum(a, b), np.abs(a)]):
        np.testing.assert_array_equal(out[:, row], wanted)
    np.testing.assert_array_equal(out[:, 5, :2], np.stack([a.min(1), a.max(1)], 1))
    np.testing.assert_allclose(out[:, 5, 2], np.abs(a).sum(1, dtype=np.float64), rtol=3e-7)
    np.testing.assert_array_equal(at, np.stack([before.argmin(1), before.argmax(1)], 1))
    np.testing.assert_array_equal(n, np.trunc(before / np.array([2, -2, 3])))
    for row in range(50):
        np.testing.assert_array_equal(sn.min(a[row], b[row]), np.minimum(a[row], b[row]))
        assert sn.max(a[row]) == a[row].max()
        assert sn.argmin(before[row]) == before[row].argmin()
        np.testing.assert_array_equal(sn.cw_mul(a[row], b[row]), out[row, 0])


@sn.kernel
def by_elements(a: sn.array[sn.mat22], b: sn.array[sn.mat22], out: sn.array[sn.mat22], q: sn.array[sn.quat]):
    out[0] = sn.cw_mul(a[0], b[0])
    out[1] = sn.cw_div(a[0], b[0])
    q[0] = sn.normalize(q[0])
    q[1] = sn.normalize(q[1])


def test_matrices_by_elements_and_quaternions_of_length_zero():
    a, b = np.array([[[1, -2], [3, 4]]], np.float32), np.array([[[2, 4], [-8, 0.5]]], np.float32)
    q, out = np.array([[0, 0, 0, 0], [0, 3, 0, 4]], np.float32), np.zeros((2, 2, 2), np.float32)
    sn.launch(by_elements, 1, [a, b], [out, q])
    np.testing.assert_array_equal(out, np.concatenate([a * b, a / b]))
    np.testing.assert_allclose(q, [[0, 0, 0, 1], [0, 0.6, 0, 0.8]], rtol=1e-7)
