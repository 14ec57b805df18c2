import gc
import struct
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import _native, dtypes
from sim_node.errors import DeviceError
from sim_node.runtime.array import array, empty, extents, from_numpy, full, ones, wrap, zeros

ELEMENTS = list(dtypes.ELEMENTS.values())


def shared(made, data):
    return np.shares_memory(made.numpy(), data)


@given(st.sampled_from(ELEMENTS), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_memory_is_aligned_and_seen_by_numpy_as_it_is(element, shape):
    made = zeros(tuple(shape), element)
    view = made.numpy()
    axes = [element.length] if element.length > 1 else []
    assert (made.dtype, made.shape, made.ndim, made.size) == (element, tuple(shape), len(shape), int(np.prod(shape)))
    assert (view.dtype, view.shape) == (element.numpy, (*shape, *axes))
    assert view.flags.c_contiguous
    assert view.ctypes.data == made.ptr or made.size == 0
    assert made.ptr % 64 == 0
    assert len(made) == shape[0]
    assert not view.any()


@pytest.mark.parametrize("element", ELEMENTS, ids=repr)
def test_numpy_memory_is_shared_where_it_fits(element):
    data = np.ones((4, element.length) if element.length > 1 else 4, element.numpy)
    made = array(data, element)
    made[1] = 0
    assert shared(made, data)
    assert not data[1].any()
    assert made.__array_interface__["data"][0] == data.ctypes.data
    assert not shared(array(data, element, copy=True), data)


def test_what_does_not_fit_is_copied():
    strided, other, odd = np.ones(8, "f4")[::2], np.ones(4), np.frombuffer(bytearray(17), "f4", 4, 1)
    for data in (strided, other, odd):
        made = array(data, dtypes.float32)
        assert not shared(made, data)
        assert np.array_equal(made, data)


def test_an_array_of_an_array_shares():
    first = zeros(3, dtypes.vec3)
    second = array(first)
    second[2] = (1, 2, 3)
    assert second.dtype == dtypes.vec3
    assert first.ptr == second.ptr
    assert first[2].tolist() == [1, 2, 3]


def test_data_without_dtype_means_what_it_means_in_a_kernel():
    assert [array(data).dtype.name for data in ([1], [1.0], [True], np.ones(1))] == ["i32", "f32", "bool", "f64"]


def test_filled_arrays():
    assert ones(2, bool).numpy().tolist() == [True, True]
    assert ones((2, 2)).numpy().tolist() == [[1, 1], [1, 1]]
    assert full(2, 7).dtype is dtypes.int32
    assert full(2, (1, 2, 3), dtypes.vec3).numpy().tolist() == [[1, 2, 3]] * 2
    assert full(1, 2, dtypes.vec2i).numpy().tolist() == [[2, 2]]
    assert empty(0).numpy().shape == (0,)
    assert from_numpy(np.arange(3)).dtype is dtypes.int64
    with pytest.raises(TypeError, match="takes a numpy array, not list"):
        from_numpy([1])
    with pytest.raises(TypeError, match="without loss"):
        full(2, 1.5, int)


def test_assign_and_fill_convert_or_refuse():
    made = zeros(3, int)
    made.assign([1, 2, 3])
    assert list(made) == [1, 2, 3]
    made.fill_(4)
    assert made.numpy().tolist() == [4, 4, 4]
    made.zero_()
    assert not made.numpy().any()
    with pytest.raises(ValueError, match=r"cannot assign shape \(2,\)"):
        made.assign([1, 2])
    with pytest.raises(TypeError, match="without loss"):
        made.assign([1.5, 2, 3])


def test_repr_shows_values_and_dtype():
    assert repr(array([1.0, 2.5])) == "array([1. , 2.5], dtype=f32)"
    assert len(repr(zeros(1_000_000))) < 200


def test_read_only_memory_stays_read_only():
    data = np.zeros(3, "f4")
    data.flags.writeable = False
    made = array(data)
    assert not made.writeable
    assert not made.numpy().flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        made[0] = 1
    with pytest.raises(TypeError, match="read-write"):
        struct.pack_into("f", made, 0, 1.0)


class Owner(np.ndarray):
    """Memory that can be watched."""


def test_the_owner_lives_as_long_as_views_do():
    data = Owner((3,), "f4")
    watched = weakref.ref(data)
    made = array(data)
    view = made.numpy()
    del data, made
    gc.collect()
    assert watched() is not None
    del view
    gc.collect()
    assert watched() is None


def test_views_leave_no_reference():
    made = zeros(3)
    before = sys.getrefcount(made)
    for _ in range(1000):
        made.numpy()
    assert sys.getrefcount(made) == before


@pytest.mark.parametrize("shape", ["3", 1.5, None, (1, 2.0)])
def test_a_shape_is_ints(shape):
    with pytest.raises(TypeError, match="a shape is an int or a tuple of ints"):
        extents(shape)


@pytest.mark.parametrize("shape", [-1, (), (1,) * 5])
def test_a_shape_has_one_to_four_extents(shape):
    with pytest.raises(ValueError, match="1 to 4 dimensions"):
        extents(shape)


def test_an_unknown_device_is_refused_with_and_without_a_copy():
    for data in ([1.0], np.zeros(1)):
        with pytest.raises(DeviceError):
            array(data, device="cuda:0")


@pytest.mark.parametrize(
    ("memory", "code", "components", "shape", "fault"),
    [
        (bytearray(8), 5, 1, (3,), "has 8 bytes, the array needs 12"),
        (memoryview(bytearray(16))[1:9], 6, 1, (1,), "not aligned to 8 bytes"),
        (bytearray(8), 9, 1, (2,), "no type has code 9"),
        (bytearray(8), 5, 0, (2,), "0 components"),
        (bytearray(8), 5, 1, (), "1 to 4 dimensions"),
        (bytearray(8), 5, 1, (2**40, 2**40), "does not fit an address space"),
        (bytearray(8), 5, 1, (-1,), "negative"),
    ],
)
def test_native_memory_must_fit(memory, code, components, shape, fault):
    with pytest.raises(ValueError, match=fault):
        _native.Array(memory, code, components, shape)


def test_wrap_takes_any_buffer():
    memory = bytearray(24)
    made = wrap(memory, dtypes.vec3, (2,))
    made[1] = (1, 2, 3)
    assert np.frombuffer(memory, "f4").tolist() == [0, 0, 0, 1, 2, 3]
    with pytest.raises(BufferError):
        memory.append(0)


def test_an_array_in_a_cycle_survives_the_collector():
    """The collector must not clear a memoryview that an array still exports from."""
    data = Owner((3,), "f4")
    watched = weakref.ref(data)
    data.made = array(memoryview(data), dtypes.float32)
    made, view = array(data), memoryview(data)
    cycle = [wrap(view, dtypes.float32, (3,)), made]
    cycle.append(cycle)
    del data, made, view, cycle
    gc.collect()
    assert watched() is not None
    watched().made = None
    gc.collect()
    assert watched() is None
