"""Random points lie where they should, as densely everywhere, with the same values as Warp's."""

import numpy as np
import pytest

import sim_node as sn

COUNT = 20_000
PLANE = ["sample_triangle", "sample_unit_ring", "sample_unit_disk", "sample_unit_square"]
SPACE = [
    *("sample_unit_sphere_surface", "sample_unit_sphere", "sample_unit_cube"),
    *("sample_unit_hemisphere_surface", "sample_unit_hemisphere"),
]
# What Warp 1.19 gives on the CPU for rand_init(42, 0) and rand_init(42, 1).
WARP = {
    "sample_triangle": [[0.06942213, 0.1730081], [0.88226217, 0.09153681]],
    "sample_unit_ring": [[0.66589552, -0.74604505], [0.99620932, 0.08698864]],
    "sample_unit_disk": [[0.36466262, 0.85615206], [0.02021569, -0.11598931]],
    "sample_unit_square": [[0.36597514, -0.3140853], [-0.48613781, 0.27746308]],
    "sample_unit_sphere_surface": [[0.2670016, 0.62686431, -0.73195034], [0.04015016, -0.23036514, 0.97227561]],
    "sample_unit_sphere": [[0.24036938, 0.56433737, -0.65894157], [0.03821126, -0.2192405, 0.92532313]],
    "sample_unit_cube": [[0.36597514, -0.3140853, 0.22961855], [-0.48613781, 0.27746308, 0.36200964]],
    "sample_unit_hemisphere_surface": [[0.38833138, 0.91172147, 0.13402489], [0.02849005, -0.1634642, 0.98613781]],
    "sample_unit_hemisphere": [[0.34959707, 0.82078129, 0.12065651], [0.02711423, -0.1555703, 0.9385159]],
}


def points(name, count=COUNT):
    sample, dtype = getattr(sn, name), sn.vec2 if name in PLANE else sn.vec3

    @sn.kernel
    def k(seed: int, out: sn.array[dtype], states: sn.array[sn.uint32]):
        i = sn.tid()
        state = sn.rand_init(seed, i)
        out[i] = sample(state)
        states[i] = state

    out, states = np.zeros((count, 2 if name in PLANE else 3), np.float32), np.zeros(count, np.uint32)
    sn.launch(k, count, inputs=[42, out, states])
    with np.errstate(all="ignore"):
        for i in range(5):
            host, state = sample.function(sn.rand_init(np.int32(42), np.int32(i)))
            np.testing.assert_array_equal(host, out[i])
            assert state == states[i]
    return out.astype(np.float64)


def evenly(values, low=0.0, high=1.0):
    """Whether numbers spread evenly over a range (Kolmogorov, Smirnov; wrong once in 10^6)."""
    expected = (np.sort(values) - low) / (high - low)
    steps = np.arange(len(values)) / len(values)
    return np.abs(expected - steps).max() < 2.7 / np.sqrt(len(values))


@pytest.mark.parametrize("name", [*PLANE, *SPACE])
def test_the_points_are_warps(name):
    np.testing.assert_allclose(points(name, 5)[:2], WARP[name], atol=2e-7)


def test_triangle():
    u, v = points("sample_triangle").T
    assert (u >= 0).all()
    assert (v >= 0).all()
    assert (u + v <= 1 + 1e-6).all()
    assert evenly((1 - u) ** 2)
    assert evenly(v / (1 - u))


def test_circle():
    ring, disk = points("sample_unit_ring"), points("sample_unit_disk")
    np.testing.assert_allclose(np.linalg.norm(ring, axis=1), 1.0, atol=1e-6)
    assert evenly(np.arctan2(*ring.T), -np.pi, np.pi)
    assert evenly((disk**2).sum(1))
    assert evenly(np.arctan2(*disk.T), -np.pi, np.pi)


@pytest.mark.parametrize("half", [False, True])
def test_sphere(half):
    kind = "hemisphere" if half else "sphere"
    surface, inside = points(f"sample_unit_{kind}_surface"), points(f"sample_unit_{kind}")
    np.testing.assert_allclose(np.linalg.norm(surface, axis=1), 1.0, atol=1e-6)
    assert evenly(surface[:, 2], 0.0 if half else -1.0, 1.0)
    assert evenly(np.linalg.norm(inside, axis=1) ** 3)
    assert evenly(np.arctan2(inside[:, 0], inside[:, 1]), -np.pi, np.pi)


def test_square_and_cube():
    for name in ("sample_unit_square", "sample_unit_cube"):
        for column in points(name).T:
            assert evenly(column, -0.5, 0.5)
