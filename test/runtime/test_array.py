import gc
import struct
import sys
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim_node as sn
from sim_node import _native, dtypes
from sim_node.runtime.array import wrap
from sim_node.runtime.creation import array, empty, zeros
from sim_node.runtime.element import native
from sim_node.runtime.view import extents

ELEMENTS = [*dtypes.SCALARS, *(dtypes.Vector(scalar, n) for scalar in dtypes.SCALARS[1:] for n in (2, 3, 4))]


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
    assert made.ptr == (view.ctypes.data if made.size else None)
    assert view.ctypes.data % 64 == 0
    assert made.capacity == view.nbytes
    assert len(made) == shape[0]
    assert not view.any()


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
    made = array(data, copy=False)
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
    made = array(data, copy=False)
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


@pytest.mark.parametrize(
    ("shape", "told"), [(-1, "must be non-negative"), ((), "1 to 4 dimensions"), ((1,) * 5, "1 to 4 dimensions")]
)
def test_a_shape_has_one_to_four_extents(shape, told):
    with pytest.raises(ValueError, match=told):
        extents(shape)


def test_memory_with_strides():
    made = zeros((2, 3), int, strides=(16, 4))
    assert (made.strides, made.capacity, made.is_contiguous) == ((16, 4), 28, False)
    made[1, 2] = 7
    assert made.numpy().tolist() == [[0, 0, 0], [0, 0, 7]]
    assert empty((0, 3), int, strides=(4, 16)).ptr is None
    assert made[::-1].capacity == 28
    with pytest.raises(ValueError, match="Invalid number of strides, expected 2 strides, got 1"):
        empty((2, 3), strides=(4,))
    with pytest.raises(NotImplementedError, match="Negative strides"):
        empty((3, 3), strides=(16, -4))


@pytest.mark.parametrize(
    ("memory", "dtype", "shape", "strides", "offset", "fault"),
    [
        (bytearray(8), dtypes.float32, (3,), None, 0, "has the bytes 0 to 8, the array needs 0 to 12"),
        (bytearray(8), dtypes.float32, (2,), None, 4, "needs 4 to 12"),
        (bytearray(8), dtypes.float32, (2,), (-4,), 0, "needs -4 to 4"),
        (bytearray(8), dtypes.float32, (2,), (8,), 0, "needs 0 to 12"),
        (memoryview(bytearray(16))[1:9], dtypes.float64, (1,), None, 0, "not aligned to 8 bytes"),
        (bytearray(16), dtypes.float32, (2,), (6,), 0, "not aligned to 4 bytes"),
        (bytearray(8), dtypes.float32, (), None, 0, "1 to 4 dimensions"),
        (bytearray(8), dtypes.float32, (2**40, 2**40), None, 0, "does not fit an address space"),
        (bytearray(8), dtypes.float32, (2**40, 2**40), (2**40, 2**40), 0, "does not fit an address space"),
        (bytearray(8), dtypes.float32, (2,), (2**63 - 1,), 8, "the array needs"),
        (bytearray(8), dtypes.float32, (-1,), None, 0, "negative"),
        (bytearray(8), dtypes.float32, (1,), (4, 4), 0, "strides are a tuple of 1"),
    ],
)
def test_native_memory_must_fit(memory, dtype, shape, strides, offset, fault):
    with pytest.raises(ValueError, match=fault):
        _native.Array(memory, native(dtype), shape, strides, offset)


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
    data.made = array(memoryview(data), dtypes.float32, copy=False)
    made, view = array(data, copy=False), memoryview(data)
    cycle = [wrap(view, dtypes.float32, (3,)), made]
    cycle.append(cycle)
    del data, made, view, cycle
    gc.collect()
    assert watched() is not None
    watched().made = None
    gc.collect()
    assert watched() is None


AXES = st.lists(st.integers(0, 4), min_size=1, max_size=4)
NUMBERS = st.sampled_from([dtypes.float32, dtypes.int64, dtypes.bool_, dtypes.vec3, dtypes.vec2d])


def counted(dtype, shape):
    """An array and a numpy one with the same values, all different where the type has as many."""
    inner = (dtype.length,) if dtype.length > 1 else ()
    values = np.arange(np.prod((*shape, *inner), dtype=int)).reshape(*shape, *inner).astype(dtype.numpy)
    return array(values.copy(), dtype), values


def keys(draw, shape):
    """A key that numpy takes too, for some of the dimensions."""
    found = []
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        choices = [st.slices(extent)]
        if extent:
            choices.append(st.integers(-extent, extent - 1))
        found.append(draw(st.one_of(choices)))
    if draw(st.booleans()):
        found.append(Ellipsis)
    return tuple(found)


@given(NUMBERS, AXES, st.data())
def test_parts_are_numpy_s_parts_and_share_the_memory(dtype, shape, data):
    made, values = counted(dtype, shape)
    for _ in range(3):
        key = keys(data.draw, made.shape)
        if made.ndim - sum(isinstance(one, int) for one in key) == 0:
            assert np.array_equal(made[key], values[tuple(one for one in key if one is not Ellipsis)])
            return
        part = made[key]
        wanted = values[key] if Ellipsis not in key else values[(*key, *[slice(None)] * (values.ndim - made.ndim))]
        assert np.array_equal(part.numpy(), wanted)
        assert part.shape == wanted.shape[: part.ndim]
        assert np.array_equal(part.contiguous().numpy(), wanted)
        assert part.size == 0 or part.is_contiguous == wanted.flags.c_contiguous
        assert [np.asarray(one).tolist() for one in part.list()] == wanted.reshape(
            part.size, *wanted.shape[part.ndim :]
        ).tolist()
        made, values = part, wanted
    if made.size:
        made.fill_(dtype.scalar(1))
        values[...] = 1
        assert np.array_equal(made.numpy(), values)


@given(NUMBERS, AXES, st.data())
def test_what_is_set_is_what_numpy_sets(dtype, shape, data):
    made, values = counted(dtype, shape)
    for _ in range(3):
        key = keys(data.draw, shape)
        if values[key].size == 0:
            continue
        if data.draw(st.booleans()):
            made[key] = dtype.scalar(3)
            values[key] = 3
        else:
            turned = np.logical_not(values[key]).astype(dtype.numpy)
            made[key] = turned
            values[key] = turned
    assert np.array_equal(made.numpy(), values)


@given(NUMBERS, AXES, st.data())
def test_transposed_and_reshaped_as_numpy_does(dtype, shape, data):
    made, values = counted(dtype, shape)
    order = data.draw(st.permutations(range(len(shape))))
    inner = list(range(len(shape), values.ndim))
    turned, wanted = made.transpose(order), values.transpose(*order, *inner)
    assert np.array_equal(turned.numpy(), wanted)
    assert turned.size == 0 or turned.strides == wanted.strides[: len(shape)]
    assert np.array_equal(made.transpose().numpy(), values.transpose(*reversed(range(len(shape))), *inner))
    assert np.shares_memory(turned.numpy(), made.numpy()) == bool(made.size)
    flat = made.flatten()
    assert np.array_equal(flat.numpy(), values.reshape(made.size, *values.shape[len(shape) :]))
    assert made.reshape((1, made.size)).shape == (1, made.size)
    if made.size:
        assert made.reshape((-1, shape[-1])).shape == (made.size // shape[-1], shape[-1])
    if not turned.is_contiguous:
        with pytest.raises(ValueError, match=r"array.contiguous\(\).reshape"):
            turned.flatten()


def test_a_shape_that_does_not_fit_and_axes_that_are_none_are_refused():
    made = zeros((2, 3))
    for shape in (5, (-1, 4), (-1, -1), (2, -3)):
        with pytest.raises(ValueError, match="do not make an array of shape"):
            made.reshape(shape)
    for axes in ((0,), (0, 0), (0, 2)):
        with pytest.raises(ValueError, match="no permutation"):
            made.transpose(axes)


def test_views_of_other_types_share_the_bytes():
    vectors = array(np.arange(12, dtype="f4").reshape(4, 3), dtypes.vec3)
    assert vectors.view(float).shape == (4, 3)
    assert vectors[::2].view(float).numpy().tolist() == [[0, 1, 2], [6, 7, 8]]
    assert vectors.view(float).view(dtypes.vec3).numpy().tolist() == vectors.numpy().tolist()
    assert zeros(3).view(dtypes.vec3).shape == (1,)
    bits = array([1.0]).view(dtypes.uint32)
    assert bits[0] == 0x3F800000
    assert zeros(2, dtypes.vec2).view(dtypes.int64).shape == (2,)
    for given_array, dtype in ((zeros(2), dtypes.float64), (vectors, dtypes.float64), (vectors, dtypes.vec2)):
        with pytest.raises(TypeError, match="cannot create an array view with dtype"):
            given_array.view(dtype)
    with pytest.raises(
        TypeError, match="float64 from source dtype vec3f: source scalar dtype float32 has size 4 bytes, "
    ):
        vectors.view(dtypes.float64)
    with pytest.raises(ValueError, match="are not the components"):
        zeros((3, 4)).transpose().view(dtypes.vec4)


@pytest.mark.parametrize(
    ("key", "fault", "what"),
    [
        (3, IndexError, "index 3 is outside dimension 0 of extent 3"),
        ((0, -3), IndexError, "index -3 is outside dimension 1 of extent 2"),
        ((0, 0, 0), IndexError, "3 indices for an array of 2 dimensions"),
        ((..., ...), IndexError, "at most one Ellipsis"),
        (True, TypeError, r"array.numpy\(\)\[mask\]"),
        (1.0, TypeError, "indexed by integers, slices and lists"),
        ("x", TypeError, "a list of indices has integers"),
    ],
)
def test_a_key_that_selects_nothing_is_refused(key, fault, what):
    with pytest.raises(fault, match=what):
        zeros((3, 2))[key]


def test_a_strided_array_shows_numpy_its_strides_and_no_flat_buffer():
    made = zeros((4, 6))[::2, 1::3]
    assert made.strides == (48, 12)
    assert np.from_dlpack(made).strides == (48, 12)
    assert made.__array_interface__["strides"] == (48, 12)
    with pytest.raises(BufferError, match="not contiguous"):
        struct.unpack_from("f", made)


def test_parts_keep_the_memory():
    data = Owner((4, 4), "f4")
    watched = weakref.ref(data)
    part = array(data, copy=False)[1:, 2].transpose()[::-1]
    del data
    gc.collect()
    assert watched() is not None
    del part
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize(
    "shape", [(2, 3), [2, 3], np.array([2, 3]), iter((2, 3))], ids=["tuple", "list", "array", "any"]
)
def test_a_shape_is_any_sequence_of_ints(shape):
    assert zeros(shape).shape == (2, 3)


def test_an_element_of_several_numbers_is_a_value_in_the_array_s_memory():
    made = zeros((2, 2), dtypes.vec3)
    element = made[1, 0]
    assert repr(element).startswith("vec3f(")
    element.y = 5.0
    assert made[1, 0] == (0, 5, 0)
    assert made.list() == [dtypes.vec3(), dtypes.vec3(), dtypes.vec3(0, 5, 0), dtypes.vec3()]
    made[0, 1] = element
    made[1, 0] = dtypes.vec3(1)
    assert made.numpy().tolist() == [[[0, 0, 0], [0, 5, 0]], [[1, 1, 1], [0, 0, 0]]]
    assert array(made.list()).dtype == dtypes.vec3
    with pytest.raises(TypeError, match="expected a vec3f, got a vec3d"):
        made[0, 0] = dtypes.vec3d()


@sn.struct
class Link:
    count: int
    values: sn.array(dtype=float)


def test_what_an_element_is_made_to_refer_to_lives_as_long_as_the_array():
    links = sn.zeros(3, dtype=Link)
    first = sn.array([1.0, 2.0])
    before = sys.getrefcount(first)
    links[1].values = first
    assert sys.getrefcount(first) == before + 1
    assert links[1].values is first
    assert links[1:][0].values is first
    assert links[0].values is None
    other = sn.array([3.0])
    links[1:][0].values = other
    assert links[1].values is other
    assert sys.getrefcount(first) == before
    links.zero_()
    assert links[1].values is None
