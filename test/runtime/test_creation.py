import ctypes
import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node.errors import DeviceError
from sim_node.runtime import creation
from sim_node.runtime.creation import array, clone, copy, empty, from_numpy, full, ones, zeros
from sim_node.runtime.indexed import IndexedArray

ELEMENTS = [*dtypes.SCALARS, *(dtypes.Vector(scalar, n) for scalar in dtypes.SCALARS[1:] for n in (2, 3, 4))]


def shared(made, data):
    return np.shares_memory(made.numpy(), data)


@pytest.mark.parametrize("element", ELEMENTS, ids=repr)
def test_numpy_memory_is_shared_where_that_is_said_and_it_fits(element):
    data = np.ones((4, element.length) if element.length > 1 else 4, element.numpy)
    made = array(data, element, copy=False)
    made[1] = element.scalar(0)
    assert shared(made, data)
    assert not data[1].any()
    assert made.__array_interface__["data"][0] == data.ctypes.data
    for copied in (array(data, element), from_numpy(data, element)):
        assert not shared(copied, data)
        assert copied.numpy().tobytes() == data.tobytes()


def test_what_does_not_fit_is_copied():
    other, odd = np.ones(4), np.frombuffer(bytearray(17), "f4", 4, 1)
    for data in (other, odd):
        made = array(data, dtypes.float32, copy=False)
        assert not shared(made, data)
        assert np.array_equal(made, data)


def test_an_array_of_an_array_shares_where_that_is_said():
    first = zeros(3, dtypes.vec3)
    assert array(first).ptr != first.ptr
    second = array(first, copy=False)
    second[2] = (1, 2, 3)
    assert second.dtype == dtypes.vec3
    assert first.ptr == second.ptr
    assert first[2] == (1, 2, 3)


def test_data_without_dtype_means_what_it_means_in_a_kernel():
    assert [array(data).dtype.name for data in ([1], [1.0], [True], np.ones(1))] == ["i32", "f32", "bool", "f64"]


def test_zeros_take_a_shape_or_a_number():
    assert zeros(n=3, dtype=int).shape == zeros(3).shape == (3,)
    with pytest.raises(TypeError, match="needs a shape"):
        zeros()


def test_filled_arrays():
    assert ones(2, bool).numpy().tolist() == [True, True]
    assert ones((2, 2)).numpy().tolist() == [[1, 1], [1, 1]]
    assert full(2, 7).dtype is dtypes.int32
    assert full(2, (1, 2, 3), dtypes.vec3).numpy().tolist() == [[1, 2, 3]] * 2
    assert full(1, 2, dtypes.vec2i).numpy().tolist() == [[2, 2]]
    assert empty(0).numpy().shape == (0,)
    assert full(2, (1, 2)).dtype == dtypes.Vector(dtypes.int32, 2)
    assert full(2, np.eye(2, dtype=bool)).dtype == dtypes.Matrix(dtypes.bool_, 2, 2)
    assert from_numpy(np.arange(3)).dtype is dtypes.int64
    with pytest.raises(TypeError, match="takes a numpy array, not list"):
        from_numpy([1])
    with pytest.raises(TypeError, match="without loss"):
        full(2, 1.5, int)


def test_an_unknown_device_is_refused_with_and_without_a_copy():
    for data in ([1.0], np.zeros(1)):
        with pytest.raises(DeviceError):
            array(data, device="cuda:99")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.data())
def test_strides_of_numpy_are_shared(shape, data):
    values = np.arange(np.prod(shape, dtype=int), dtype="i4").reshape(shape)
    turned = values.transpose(data.draw(st.permutations(range(len(shape)))))
    part = turned[data.draw(st.slices(turned.shape[0]))]
    made = array(part, copy=False)
    assert np.array_equal(made.numpy(), part)
    assert made.size == 0 or (made.strides == part.strides and shared(made, values))


def test_components_that_do_not_follow_each_other_are_copied():
    data = np.arange(12, dtype="f4").reshape(3, 4).T[:, :]
    made = array(data, dtypes.vec3, copy=False)
    assert not shared(made, data)
    assert np.array_equal(made.numpy(), data)


def test_memory_by_its_address():
    memory = (ctypes.c_float * 12)(*range(12))
    made = array(ptr=ctypes.addressof(memory), dtype=float, shape=(3, 4))
    assert made.numpy().tolist() == np.arange(12).reshape(3, 4).tolist()
    backwards = array(ptr=ctypes.addressof(memory) + 44, dtype=float, shape=4, strides=(-12,))
    assert list(backwards) == [11, 8, 5, 2]
    backwards[0] = 5.0
    assert memory[11] == 5
    assert array(ptr=ctypes.addressof(memory), dtype=dtypes.vec3, shape=0).size == 0
    with pytest.raises(TypeError, match="needs dtype and shape"):
        array(ptr=1, dtype=float)
    with pytest.raises(ValueError, match="expected 2 strides, got 1"):
        array(ptr=ctypes.addressof(memory), dtype=float, shape=(2, 2), strides=(4,))
    with pytest.raises(TypeError, match="strides go with ptr"):
        array([1.0], strides=(4,))


def test_a_shape_alone_is_memory_and_with_values_their_shape():
    assert array(shape=(2, 3), dtype=int).shape == (2, 3)
    assert array([1, 2, 3, 4], shape=(2, 2)).numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="needs data, a shape, or an address"):
        array()


def test_arrays_like_others_are_contiguous():
    like = zeros((4, 3), dtypes.vec2i)[::2].transpose()
    for made, value in (
        (creation.zeros_like(like), 0),
        (creation.ones_like(like), 1),
        (creation.full_like(like, 7), 7),
        (creation.empty_like(like), None),
    ):
        assert (made.shape, made.dtype, made.is_contiguous) == (like.shape, like.dtype, True)
        assert value is None or (made.numpy() == value).all()


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.data())
def test_copies_between_any_strides(shape, data):
    values = np.arange(np.prod(shape, dtype=int), dtype="f4").reshape(shape)
    order = data.draw(st.permutations(range(len(shape))))
    source = array(values).transpose(order)
    target = zeros([2 * n for n in source.shape])[(slice(None, None, 2),) * len(shape)]
    copy(target, source)
    assert np.array_equal(target.numpy(), values.transpose(order))
    made = clone(source)
    assert made.is_contiguous
    assert not shared(made, values)
    assert np.array_equal(made.numpy(), values.transpose(order))


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6))
def test_a_run_of_elements_is_copied_or_refused(dest_offset, src_offset, count):
    source, wanted = array(np.arange(6, dtype="i4").reshape(2, 3)), np.zeros(6, int)
    target = zeros((3, 4), int).flatten()[::2]
    many = count or 6
    if dest_offset + many > 6 or src_offset + many > 6:
        with pytest.raises(ValueError, match="are not all in"):
            copy(target, source, dest_offset, src_offset, count)
        return
    copy(target, source, dest_offset, src_offset, count)
    wanted[dest_offset : dest_offset + many] = np.arange(6)[src_offset : src_offset + many]
    assert list(target) == wanted.tolist()


def test_copies_overlap_and_reach_indexed_elements():
    made = array([1, 2, 3, 4])
    copy(made[1:], made[:3])
    assert list(made) == [1, 1, 2, 3]
    chosen = IndexedArray(made, [[3, 0]])
    copy(chosen, array([7, 8]))
    assert list(made) == [8, 1, 2, 7]
    copy(chosen, array([9]), dest_offset=1, count=1)
    assert list(made) == [9, 1, 2, 7]
    target = zeros(2, int)
    copy(target, chosen)
    assert list(target) == [7, 9]


def test_what_cannot_be_copied_is_refused():
    with pytest.raises(TypeError, match="cannot copy elements of f32 to an array of i32"):
        copy(zeros(2, int), zeros(2))
    with pytest.raises(TypeError, match="copy takes two arrays, not ndarray"):
        copy(zeros(2), np.zeros(2, "f4"))
    with pytest.raises(ValueError, match="dest has strides and 2 dimensions"):
        copy(zeros((4, 4))[:, ::2], zeros(8))
    with pytest.raises(ValueError, match="elements 0 to 3 are not all in dest, which has 2"):
        copy(zeros(2), zeros(3))
    with pytest.raises(ValueError, match="elements -1 to 1"):
        copy(zeros(2), zeros(2), dest_offset=-1)


def test_a_copy_of_an_array_is_its_own():
    first = zeros(3)
    second = clone(first)
    second.fill_(1)
    del second
    gc.collect()
    assert not first.numpy().any()


@pytest.mark.parametrize("option", ["requires_grad", "retain_grad", "pinned"])
def test_options_of_warps_change_nothing(option):
    named = {option: True}
    like = creation.zeros(2, **named)
    made = [creation.array([1.0, 2.0], **named), creation.from_numpy(np.ones(2, np.float32), **named)]
    made += [make(2, **named) for make in (creation.empty, creation.ones)]
    made += [creation.full(2, 1.0, **named), creation.full_like(like, 1.0, **named)]
    made += [
        make(like, **named) for make in (creation.zeros_like, creation.empty_like, creation.ones_like, creation.clone)
    ]
    assert all((one.shape, one.dtype) == ((2,), dtypes.float32) for one in made)


def test_other_options_are_refused():
    with pytest.raises(TypeError, match=r"zeros\(\) got an unexpected keyword argument 'require_grad'"):
        creation.zeros(2, require_grad=True)
