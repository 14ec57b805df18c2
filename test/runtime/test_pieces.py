"""What is asked of an array on a GPU is copied, and little else: counted by the simulated driver."""

import copy

import numpy as np
import pytest
from devices import EVERY, GPU
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sim_node as sn
from sim_node import _native
from sim_node.runtime.pieces import Pieces

MANY = 64_000_000


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3000, 3000)), min_size=1, max_size=4))
def test_the_rows_hold_each_element_once_and_lie_close_on_the_host(dims):
    shape, strides = (tuple(each) for each in zip(*dims, strict=True))
    strides = tuple(4 * stride for stride in strides)
    pieces = Pieces(shape, strides, 4)
    places = np.array([np.dot(at, strides) for at in np.ndindex(shape)], int)
    copied = [
        (there + at * pitch + k, here + at * row + k)  # where a byte is on the GPU, counted from the lowest, and here
        for there, here, row, rows, pitch in pieces.copies() for at in range(rows) for k in range(row)
    ]  # fmt: skip
    away = dict(copied)
    assert len(away) == len(copied)
    if not places.size:
        assert not away
        return
    low, near = places.min(), [np.dot(at, pieces.strides) - pieces.low for at in np.ndindex(shape)]
    assert max(away.values()) < pieces.nbytes
    if len({*places.tolist()}) == places.size:
        assert [away[there - low] for there in places.tolist()] == near
    asked = {there - low + k for there in places.tolist() for k in range(4)}
    assert asked <= away.keys()
    assert asked == away.keys() or not pieces.gapless


@pytest.fixture
def gpu(simulate):
    """A simulated GPU, and what was copied since it was last asked."""
    made = simulate()

    def copied():
        counted = made.driver.copied["DtoH"], made.driver.copied["HtoD"]
        made.driver.copied.clear()
        return counted

    return made.device, copied


def test_one_element_of_many_is_one_element_copied(gpu):
    device, copied = gpu
    many = sn.empty(MANY, device=device)
    copied()
    many[12_345_678] = 2.5
    assert copied() == (0, 4)
    assert many[12_345_678] == 2.5
    assert copied() == (4, 0)
    many[-3:] = [1, 2, 3]
    many[5:9].fill_(4)
    assert copied() == (0, 28)
    assert (many[-2:].numpy().tolist(), many[8]) == ([2, 3], 4)
    assert copied() == (12, 0)
    assert many[::-1][2] == 1
    assert copied() == (4, 0)


def test_a_column_is_copied_without_the_rest_of_its_rows(gpu):
    device, copied = gpu
    table = sn.empty((1000, 2, 1000), device=device)
    copied()
    table[:, 1, 7] = 3
    assert copied() == (0, 4000)
    assert table[::-10, 1, 7].numpy().tolist() == [3] * 100
    assert copied() == (400, 0)
    table[:, :, :3] = np.arange(6000).reshape(1000, 2, 3)
    assert copied() == (0, 24_000)
    assert table.transpose()[2].numpy().tolist() == np.arange(6000).reshape(1000, 2, 3)[..., 2].T.tolist()
    assert copied() == (8000, 0)


def test_short_gaps_are_copied_and_what_is_in_them_stays(gpu):
    device, copied = gpu
    table = sn.array(np.arange(1000, dtype=np.float32), device=device)
    copied()
    table[::2] = 0
    assert copied() == (3996, 3996)
    assert table.numpy().tolist() == [i * (i % 2) for i in range(1000)]


def test_a_list_chooses_what_is_copied(gpu):
    device, copied = gpu
    many = sn.empty(MANY, device=device)
    copied()
    chosen = many[[3, 40_000_000, 5, 4]]
    assert copied() == (0, 16)  # the list
    chosen.assign([1, 2, 3, 4])
    assert copied() == (0, 16)
    assert chosen.numpy().tolist() == [1, 2, 3, 4]
    assert copied() == (16, 0)
    assert many[3:6].numpy().tolist() == [1, 4, 3]
    table = many.reshape((1000, 64_000))
    copied()
    table[[5, 900], 17:20] = 8
    assert copied() == (0, 8 + 24)
    assert table[900, 16:19].numpy().tolist()[1:] == [8, 8]


def test_all_elements_are_listed_of_one_copy(gpu):
    device, copied = gpu
    made = sn.array(np.arange(300).reshape(100, 3), sn.vec3, device=device)
    copied()
    assert made.list() == [(3 * i, 3 * i + 1, 3 * i + 2) for i in range(100)]
    assert copied() == (1200, 0)
    assert list(made)[7].y == 22
    assert copied() == (1200, 0)
    assert [row.device for row in made.reshape((10, 10))] == [device] * 10
    assert copied() == (0, 0)


@EVERY
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_what_is_set_and_read_is_what_numpy_sets_and_reads(device, data):
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    pad = data.draw(st.sampled_from([1, 400]))  # as short gaps, and as rows
    values = np.arange(np.prod(shape) * pad, dtype=np.int32).reshape(*shape[:-1], shape[-1] * pad)
    made = sn.array(values, device=device)
    for _ in range(3):
        key = tuple(
            data.draw(st.slices(n) | st.integers(-n, n - 1) | st.lists(st.integers(0, n - 1), min_size=1, max_size=3))
            for n in values.shape
        )
        grid = [np.atleast_1d(np.arange(n)[one]) for one, n in zip(key, values.shape, strict=True)]
        part = np.ix_(*grid)
        made[key] = values[part] = data.draw(st.integers(-9, 9))
        left = [len(each) for each, one in zip(grid, key, strict=True) if not isinstance(one, int)]
        assert np.array_equal(np.asarray(made[key]), values[part].reshape(left))
    assert np.array_equal(made.numpy(), values)


@pytest.mark.gpu
def test_one_element_of_many_on_a_gpu():
    many = sn.zeros(MANY, device="cuda:0")
    many[12_345_678] = 2.5
    table = many.reshape((8000, 8000))
    assert (many[12_345_678], table[12_345_678 // 8000, 12_345_678 % 8000]) == (2.5, 2.5)
    table[:, 5] = np.arange(8000)
    assert table[::-1, 5].numpy().tolist() == list(range(8000))[::-1]
    assert (table[:, 4].numpy().any(), table[:, 6].numpy().any()) == (False, False)


@EVERY
def test_an_element_of_a_gpu_is_a_copy_that_says_so(device):
    made = sn.zeros(2, sn.vec3, device=device)
    value = made[1]
    if not device.is_cuda:
        value.y = 5.0
    else:
        with pytest.raises(ValueError, match="read-only"):
            value.y = 5.0
        value = copy.copy(value)
        value.y = 5.0
        made[1] = value
    assert made[1] == (0, 5, 0)


@pytest.mark.parametrize("device", ["cpu", "simulated", GPU], indirect=True)
def test_memory_that_is_read_only_is_not_written(device):
    owner = sn.array([1, 2, 3], device=device)
    memory = _native.Memory(owner.ptr, 12, device if device.is_cuda else None, owner, True)
    made = sn.Array(memory, owner.element, (3,))
    other = sn.zeros(3, int, device=device)
    writes = (
        lambda: made.__setitem__(0, 9), lambda: made.__setitem__(slice(1, None), 9), made.zero_,
        lambda: made.fill_(9), lambda: made.assign(other), lambda: made[[0, 2]].fill_(9), lambda: sn.copy(made, other),
    )  # fmt: skip
    for write in writes:
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert owner.list() == made.list() == [1, 2, 3]
