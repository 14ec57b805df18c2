"""Noise against Warp's values, and against what noise is: zero on the lattice, smooth, periodic, free of divergence."""
# ruff: noqa: F811

import numpy as np
import pytest

import sim_node as sn
from sim_node.lang.library import noise as family

POINTS = np.random.default_rng(5).uniform(-9.0, 9.0, (6, 4)).astype(np.float32)
DIMENSIONS = {1: float, 2: sn.vec2, 3: sn.vec3, 4: sn.vec4}


def points(n, count=256, seed=1):
    p = np.random.default_rng(seed).uniform(-5.0, 5.0, (count, n)).astype(np.float32)
    return p[:, 0].copy() if n == 1 else p


def noise_at(p, seed=42):
    dtype = DIMENSIONS[1 if p.ndim == 1 else p.shape[1]]

    @sn.kernel
    def k(seed: int, p: sn.array[dtype], out: sn.array[float]):
        i = sn.tid()
        out[i] = sn.noise(sn.rand_init(seed), p[i])

    out = np.zeros(len(p), np.float32)
    sn.launch(k, len(p), inputs=[seed, p], outputs=[out])
    return out


def gradients_at(p, seed=42):
    """Noise's own derivatives in the plane, turned back from the curl."""

    @sn.kernel
    def k(seed: int, p: sn.array[sn.vec2], out: sn.array[sn.vec2]):
        i = sn.tid()
        c = sn.curlnoise(sn.rand_init(seed), p[i])
        out[i] = sn.vec2(c.y, -c.x)

    out = np.zeros_like(p)
    sn.launch(k, len(p), inputs=[seed, p], outputs=[out])
    return out


# what Warp 1.19 gives on the CPU at those points, for rand_init(42)
WARP = {
    1: [0.3385554, 0.01906925, 0.08370426, -0.16925298, -0.02118876, -0.00049169],
    2: [0.02463, 0.07516836, -0.06604564, -0.16568141, -0.05058411, -0.05973768],
    3: [-0.00378994, 0.21666592, 0.28169486, 0.04684112, 0.05639051, 0.02565268],
    4: [0.21195126, 0.10512945, 0.16208051, 0.17800701, -0.00124206, 0.13099107],
}


@pytest.mark.parametrize("n", DIMENSIONS)
def test_the_pictures_are_warps(n):
    p = POINTS[:, 0].copy() if n == 1 else np.ascontiguousarray(POINTS[:, :n])
    np.testing.assert_allclose(noise_at(p), WARP[n], atol=3e-7)


@pytest.mark.parametrize("n", DIMENSIONS)
def test_noise_is_zero_on_the_lattice_and_bounded(n):
    assert (np.abs(noise_at(points(n))) <= 0.5 * np.sqrt(n) + 1e-6).all()
    np.testing.assert_array_equal(noise_at(np.floor(points(n))), 0.0)
    assert np.std(noise_at(points(n))) > 0.1


@pytest.mark.parametrize("n", DIMENSIONS)
def test_periodic_noise_repeats(n):
    dtype, period = DIMENSIONS[n], np.array([3, 4, 5, 6][:n], np.float32)

    @sn.kernel
    def k(p: sn.array[dtype], out: sn.array[float]):
        i = sn.tid()
        out[i] = periodic(sn.rand_init(7), p[i])

    def at(p):
        out = np.zeros(len(p), np.float32)
        sn.launch(k, len(p), inputs=[p], outputs=[out])
        return out

    p = np.round(points(n) * 64) / 64  # so that the shift is exact
    once = at(p)
    np.testing.assert_array_equal(at((p + period) if n > 1 else p + period[0]), once)
    assert np.std(once) > 0.05


@sn.func
def periodic(state: sn.uint32, x: float) -> float:
    return sn.pnoise(state, x, 3)


@sn.func
def periodic(state: sn.uint32, xy: sn.vec2) -> float:
    return sn.pnoise(state, xy, 3, 4)


@sn.func
def periodic(state: sn.uint32, xyz: sn.vec3) -> float:
    return sn.pnoise(state, xyz, 3, 4, 5)


@sn.func
def periodic(state: sn.uint32, xyzt: sn.vec4) -> float:
    return sn.pnoise(state, xyzt, 3, 4, 5, 6)


def test_gradients_are_noises_derivatives():
    p, h = points(2), np.float32(2.0**-9)
    for axis in (0, 1):
        step = np.zeros(2, np.float32)
        step[axis] = h
        slope = (noise_at(p + step) - noise_at(p - step)) / (2 * h)
        np.testing.assert_allclose(gradients_at(p)[:, axis], slope, atol=2e-3)


@pytest.mark.parametrize("n", [3, 4])
def test_curls_have_no_divergence(n):
    dtype = DIMENSIONS[n]

    @sn.kernel
    def k(p: sn.array[dtype], out: sn.array[sn.vec3]):
        i = sn.tid()
        out[i] = sn.curlnoise(sn.rand_init(3), p[i], sn.uint32(2), 1.5, 0.5)

    def field(p):
        out = np.zeros((len(p), 3), np.float32)
        sn.launch(k, len(p), inputs=[p], outputs=[out])
        return out

    p, h = points(n), np.float32(2.0**-8)
    divergence, size = np.zeros(len(p)), 0.0
    for axis in range(3):
        step = np.zeros(n, np.float32)
        step[axis] = h
        change = (field(p + step)[:, axis].astype(np.float64) - field(p - step)[:, axis]) / (2 * h)
        divergence, size = divergence + change, size + np.abs(change)
    assert np.quantile(np.abs(divergence), 0.9) < 0.01 * np.quantile(size, 0.9)


def test_blends_meet_their_ends():
    assert [float(family.blend(np.float32(t))) for t in (0, 0.5, 1)] == [0.0, 0.5, 1.0]
    assert [float(family.blend_slope(np.float32(t))) for t in (0, 1)] == [0.0, 0.0]
