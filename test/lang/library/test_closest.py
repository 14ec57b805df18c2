"""The closest points of two segments beat every other pair of points, also where segments are points or parallel."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sim_node as sn

COORDINATES = st.integers(-4, 4).map(lambda n: n / 2)
SEGMENTS = st.lists(st.tuples(COORDINATES, COORDINATES, COORDINATES), min_size=4, max_size=4)


@sn.kernel
def close(p: sn.array[sn.vec3], out: sn.array[sn.vec3]):
    i = sn.tid()
    out[i] = sn.closest_point_edge_edge(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], 1.0e-9)


def closest(points):
    p = np.asarray(points, np.float32).reshape(-1, 3)
    out = np.zeros((len(p) // 4, 3), np.float32)
    sn.launch(close, len(out), inputs=[p], outputs=[out])
    return out


@settings(max_examples=200, deadline=None)
@given(SEGMENTS)
def test_no_other_pair_is_closer(segments):
    s, t, distance = closest(segments)[0]
    assert 0 <= s <= 1
    assert 0 <= t <= 1
    p1, q1, p2, q2 = np.array(segments)
    grid = np.linspace(0, 1, 21)
    one, other = p1 + np.outer(grid, q1 - p1), p2 + np.outer(grid, q2 - p2)
    assert distance <= np.linalg.norm(one[:, None] - other[None], axis=2).min() + 1e-5
    np.testing.assert_allclose(distance, np.linalg.norm(p1 + s * (q1 - p1) - p2 - t * (q2 - p2)), atol=1e-5)


def test_what_is_parallel_meets_at_the_start_of_the_first():
    s, t, distance = closest([(0, 0, 0), (4, 0, 0), (-1, 1, 0), (1, 1, 0)])[0]
    assert (s, t, distance) == (0.0, 0.5, 1.0)
