"""Triangles meet where the linear program of a common point says so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim_node as sn

MEETING = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (0.5, -0.5, 0), (0.5, -0.5, 1), (0.5, 0.5, 0)]
APART = [(0, 0, 0), (1, 0, 0), (0, 0, 1), (-0.5, -0.5, 0), (-0.5, -0.5, 1), (-0.5, 0.5, 0)]
FLAT = [(0, 0, 0), (2, 0, 0), (0, 2, 0)]


@sn.kernel
def meet(p: sn.array[sn.vec3d], out: sn.array[int]):
    i = sn.tid()
    j = 6 * i
    out[i] = sn.intersect_tri_tri(p[j], p[j + 1], p[j + 2], p[j + 3], p[j + 4], p[j + 5])


def meets(points):
    p = np.asarray(points, np.float64).reshape(-1, 3)
    out = np.full(len(p) // 6, -1, np.int32)
    sn.launch(meet, len(out), inputs=[p], outputs=[out])
    return out.astype(bool)


@pytest.mark.parametrize(
    ("points", "wanted"),
    [
        (MEETING, True),
        (APART, False),
        ([*FLAT, (0.1, 0.1, 0), (0.2, 0.1, 0), (0.1, 0.2, 0)], True),  # one inside the other
        ([*FLAT, (1, 1.5, 0), (2, 1.5, 0), (2, 3, 0)], False),  # in one plane
        ([*FLAT, (0.1, 0.1, 1), (0.2, 0.1, 1), (0.1, 0.2, 1)], False),  # in planes side by side
        ([*FLAT, (0.5, 0.5, -1), (0.5, 0.5, 1), (3, 3, 0)], True),
        ([*FLAT, (2, 0, 0), (3, 0, 1), (3, 0, -1)], True),  # in one point
    ],
)
def test_cases_by_hand_whatever_the_order(points, wanted):
    a, b = points[:3], points[3:]
    orders = [(0, 1, 2), (1, 2, 0), (2, 1, 0)]
    cases = [
        [*[x[i] for i in one], *[y[i] for i in two]] for x, y in ((a, b), (b, a)) for one in orders for two in orders
    ]
    assert (meets(cases) == wanted).all()


@settings(max_examples=60, deadline=None, database=None)
@given(st.integers(0, 2**32 - 1))
def test_random_triangles(seed):
    rng = np.random.default_rng(seed)
    triangles = rng.normal(size=(64, 6, 3))
    for points, found in zip(triangles, meets(triangles), strict=True):
        assert found == _crossing(points), points


def _crossing(points):
    """Whether an edge of one goes through the other, which triangles in general position do where they meet."""

    def through(start, end, a, b, c):
        def side(p, q, r, s):
            return np.linalg.det([q - p, r - p, s - p]) > 0

        if side(a, b, c, start) == side(a, b, c, end):
            return False
        return side(start, end, a, b) == side(start, end, b, c) == side(start, end, c, a)

    a, b = points[:3], points[3:]
    return any(through(x[i - 1], x[i], *y) for x, y in ((a, b), (b, a)) for i in range(3))
