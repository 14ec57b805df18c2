"""Sums and sorts of arrays: numpy's results, and bits that depend on nothing but the length."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sim_node as sn
from sim_node.errors import LaunchError

LENGTHS = [0, 1, 5, 1023, 1024, 1025, 5000]


def in_parts(values):
    """Sum as the module says it does."""
    while True:
        sums = []
        for first in range(0, len(values), 1024):
            total = values[first]
            for value in values[first + 1 : first + 1024]:
                total = total + value
            sums.append(total)
        if len(sums) == 1:
            return sums[0]
        values = sums


@pytest.mark.parametrize("length", LENGTHS)
def test_sums_have_a_fixed_order(length):
    values = np.random.default_rng(length).normal(0, 1, length).astype(np.float32)
    got = sn.utils.array_sum(sn.array(values))
    assert got == (in_parts(list(values)) if length else 0)
    out = sn.zeros(1)
    assert sn.utils.array_sum(sn.array(values), out) is out
    assert out.numpy()[0] == got


def test_sums_of_vectors_and_of_a_part():
    values = np.random.default_rng(1).integers(-9, 9, (3000, 3)).astype(np.float64)
    v = sn.array(values, dtype=sn.vec3d)
    np.testing.assert_array_equal(sn.utils.array_sum(v), values.sum(0))
    np.testing.assert_array_equal(sn.utils.array_sum(v, value_count=1500), values[:1500].sum(0))
    assert sn.utils.array_inner(v, v) == (values**2).sum()
    assert sn.utils.array_inner(v, v, count=7) == (values[:7] ** 2).sum()
    with pytest.raises(LaunchError, match="array_sum: 3001 elements of an array of 3000"):
        sn.utils.array_sum(v, value_count=3001)
    with pytest.raises(LaunchError, match="array_inner: 3000 elements of vec3d and 3 of f32"):
        sn.utils.array_inner(v, sn.zeros(3))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("inclusive", [True, False])
def test_running_sums(length, inclusive):
    values = np.random.default_rng(length).integers(-1000, 1000, length, np.int32)
    out = sn.zeros(length, dtype=int)
    sn.utils.array_scan(sn.array(values), out, inclusive)
    wanted = np.cumsum(values) if inclusive else np.cumsum(values) - values
    np.testing.assert_array_equal(out.numpy(), wanted)
    same = sn.array(values.copy())
    sn.utils.array_scan(same, same, inclusive)
    np.testing.assert_array_equal(same.numpy(), wanted)


def test_running_sums_want_arrays_of_one_kind():
    with pytest.raises(LaunchError, match="array_scan: 3 elements of f32 into 4 of f32"):
        sn.utils.array_scan(sn.zeros(3), sn.zeros(4))


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("length", [0, 1, 100, 3000])
def test_sorts_are_stable(dtype, length):
    random = np.random.default_rng(length)
    keys = random.integers(-50, 50, length).astype("i8").astype(dtype)
    if length > 50 and dtype[0] == "f":
        keys[:4] = np.inf, -np.inf, np.nan, 1e-40
    pairs = sn.array(np.concatenate([keys, keys])), sn.array(np.arange(2 * length, dtype=np.int32))
    sn.utils.radix_sort_pairs(*pairs, length)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(pairs[0].numpy()[:length], keys[order])
    np.testing.assert_array_equal(pairs[1].numpy()[:length], order)


def test_sorts_by_some_bits():
    keys = np.random.default_rng(3).integers(0, 2**32, 2000, np.uint32)
    pairs = sn.array(np.concatenate([keys, keys])), sn.array(np.arange(4000, dtype=np.int32))
    sn.utils.radix_sort_pairs(*pairs, 2000, 4, 15)
    np.testing.assert_array_equal(pairs[1].numpy()[:2000], np.argsort(keys >> 4 & 0x7FF, kind="stable"))
    with pytest.raises(LaunchError, match="3000 pairs need arrays of 6000 elements, and there are 4000 keys"):
        sn.utils.radix_sort_pairs(*pairs, 3000)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=40))
def test_runs(numbers):
    values, lengths = sn.zeros(len(numbers), dtype=int), sn.zeros(len(numbers), dtype=int)
    runs = sn.utils.runlength_encode(sn.array(np.array(numbers, np.int32)), values, lengths)
    found = list(zip(values.numpy()[:runs].tolist(), lengths.numpy()[:runs].tolist(), strict=True))
    assert [value for value, length in found for _ in range(length)] == numbers
    assert all(found[at][0] != found[at + 1][0] for at in range(len(found) - 1))
    count = sn.zeros(1, dtype=int)
    assert sn.utils.runlength_encode(sn.array(np.array(numbers, np.int32)), values, lengths, count) is count
    assert count.numpy()[0] == runs


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("shape", [(2, 3, 4), (3, 1500, 2), (2, 0, 3), (1, 1, 1)])
def test_sums_along_an_axis(shape, axis):
    values = np.random.default_rng(1).integers(-9, 9, shape).astype(np.float32)
    other = values[::-1] + np.float32(2)
    one, two = sn.array(values), sn.array(other)
    np.testing.assert_array_equal(sn.utils.array_sum(one, axis=axis).numpy(), values.sum(axis, keepdims=True))
    product = (values * other).sum(axis, keepdims=True)
    np.testing.assert_array_equal(sn.utils.array_inner(one, two, axis=axis).numpy(), product)
    out = sn.zeros(product.shape)
    assert sn.utils.array_inner(one, two, out, axis=axis) is out
    np.testing.assert_array_equal(out.numpy(), product)
    if shape[axis] > 1:
        first = np.take(values, [0], axis)
        np.testing.assert_array_equal(sn.utils.array_sum(one, value_count=1, axis=axis).numpy(), first)
        np.testing.assert_array_equal(
            sn.utils.array_inner(one, two, count=1, axis=axis).numpy(), first * np.take(other, [0], axis)
        )


def test_sums_of_vectors_along_an_axis():
    values = np.random.default_rng(1).integers(-9, 9, (5, 4, 3)).astype(np.float32)
    v = sn.array(values, dtype=sn.vec3)
    np.testing.assert_array_equal(sn.utils.array_sum(v, axis=0).numpy(), values.sum(0, keepdims=True))
    np.testing.assert_array_equal(sn.utils.array_inner(v, v, axis=1).numpy(), (values**2).sum((1, 2))[:, None])
    with pytest.raises(LaunchError, match="array_sum: axis 2 of an array of 2 dimensions"):
        sn.utils.array_sum(v, axis=2)


@pytest.mark.parametrize("length", [0, 1, 300, 3000])
def test_sorts_of_segments(length):
    random = np.random.default_rng(length)
    keys, values = random.integers(-50, 50, length).astype(np.float32), np.arange(length, dtype=np.int32)
    bounds = np.unique(random.integers(0, length + 1, 9)).astype(np.int32)
    for starts, ends in [(bounds, None), (bounds[:-1:2], bounds[1::2][: len(bounds[:-1:2])])]:
        pairs = sn.array(np.concatenate([keys, keys])), sn.array(np.concatenate([values, values]))
        limits = sn.array(starts.copy()), None if ends is None else sn.array(ends.copy())
        sn.utils.segmented_sort_pairs(*pairs, length, *limits)
        wanted = values.copy()
        for start, end in zip(starts if ends is not None else starts[:-1], starts[1:] if ends is None else ends):
            wanted[start:end] = start + np.argsort(keys[start:end], kind="stable")
        np.testing.assert_array_equal(pairs[1].numpy()[:length], wanted)
        np.testing.assert_array_equal(pairs[0].numpy()[:length], keys[wanted])


def test_segments_lie_in_the_array():
    with pytest.raises(LaunchError, match="segments are parts of the first 3 elements"):
        sn.utils.segmented_sort_pairs(sn.zeros(6), sn.zeros(6, int), 3, sn.array([0, 4], dtype=int))
    with pytest.raises(LaunchError, match="3 pairs of 2 keys, 2 values"):
        sn.utils.segmented_sort_pairs(sn.zeros(2), sn.zeros(2, int), 3, sn.array([0, 2], dtype=int))
