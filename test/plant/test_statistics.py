import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim_node.plant.statistics import Distribution, edges

BUCKETS = 2240  # SN_HISTOGRAM_BUCKETS


def counted(values):
    found = np.searchsorted(edges(BUCKETS), np.array(values, np.uint64), side="right") - 1
    return Distribution.of(np.bincount(found, minlength=BUCKETS).astype(np.uint64), sum(values), max(values, default=0))


def test_edges_join_and_widen_by_a_64th():
    bounds = edges(BUCKETS)
    widths = np.diff(bounds)
    assert bounds[0] == 0
    assert bounds[-1] == 1 << 40
    assert (widths[:128] == 1).all()
    assert (widths[64:] * 64 <= bounds[64:-1]).all()


@given(st.lists(st.integers(0, (1 << 40) - 1), min_size=1, max_size=200), st.floats(0, 100))
def test_percentiles_are_those_of_the_values(values, percent):
    found = counted(values)
    wanted = sorted(values)[max(int(np.ceil(len(values) * percent / 100)), 1) - 1]
    assert abs(found.percentile(percent) - wanted) <= wanted / 64
    assert found.percentile(100) <= found.max == max(values)
    assert found.mean == sum(values) / len(values)
    assert found.count == len(values)
    assert found.p50 <= found.p99 <= found.p999


def test_nothing_counted():
    empty = counted([])
    assert (empty.count, empty.p50, empty.max, empty.mean) == (0, 0, 0, 0.0)
