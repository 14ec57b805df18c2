import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import _native, dtypes
from sim_node.runtime.creation import array, zeros
from sim_node.runtime.indexed import IndexedArray


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.sampled_from([dtypes.float32, dtypes.vec3]), st.data())
def test_elements_are_numpy_s_by_the_open_grid(shape, dtype, data):
    inner = (3,) if dtype is dtypes.vec3 else ()
    values = np.arange(np.prod((*shape, *inner)), dtype="f4").reshape(*shape, *inner)
    lists = [data.draw(st.none() | st.lists(st.integers(0, n - 1), max_size=4)) for n in shape]
    full = [range(n) if one is None else one for one, n in zip(lists, shape)]
    base = array(values.copy(), dtype)
    chosen = IndexedArray(base, [None if one is None else np.array(one, "i8") for one in lists])
    wanted = values[np.ix_(*[np.array(one, int) for one in full])]
    assert chosen.shape == wanted.shape[: len(shape)]
    assert np.array_equal(chosen.numpy(), wanted)
    assert np.array_equal(chosen.contiguous().numpy(), wanted)
    assert [np.asarray(one).tolist() for one in chosen.list()] == wanted.reshape(-1, *inner).tolist()
    chosen.fill_(7)
    values[np.ix_(*[np.array(one, int) for one in full])] = 7
    assert np.array_equal(base.numpy(), values)


def test_lists_in_a_key_choose_elements_in_place():
    base = array(np.arange(12, dtype="i4").reshape(3, 4))
    chosen = base[array([2, 0]), 1:]
    assert isinstance(chosen, IndexedArray)
    assert (chosen.shape, chosen.ndim, chosen.size, len(chosen)) == ((2, 3), 2, 6, 2)
    assert chosen.numpy().tolist() == [[9, 10, 11], [1, 2, 3]]
    assert chosen[0, 1] == 10
    assert chosen[1].numpy().tolist() == [1, 2, 3]
    assert chosen[:, [0]].numpy().tolist() == [[9], [1]]
    chosen.assign([[0, 0, 0], [5, 5, 5]])
    assert base.numpy().tolist() == [[0, 5, 5, 5], [4, 5, 6, 7], [8, 0, 0, 0]]
    chosen.zero_()
    assert base.numpy().sum() == 30
    assert np.array_equal(np.asarray(chosen), np.zeros((2, 3)))
    assert base[[1], 2].numpy().tolist() == [6]
    assert repr(base[[1], 0]) == "indexedarray([4], dtype=i32)"
    with pytest.raises(ValueError, match="cannot assign shape"):
        chosen.assign([1])
    with pytest.raises(IndexError, match="3 indices for an array of 2"):
        chosen[0, 0, 0]


def test_the_lists_are_read_when_it_is_made():
    indices = array([1, 2])
    chosen = zeros(3)[indices]
    indices.fill_(100)
    assert chosen.numpy().tolist() == [0, 0]


@pytest.mark.parametrize(
    ("lists", "fault", "what"),
    [
        ([[0, 3]], IndexError, "index 3 at place 1 of list 0 is outside the extent 3"),
        ([None, [-1]], IndexError, "index -1 at place 0 of list 1"),
        ([[0], [0], [0]], ValueError, "3 lists of indices for 2 dimensions"),
        ([[0.5]], TypeError, "has integers in one dimension, not float64"),
        ([[True, False, True]], TypeError, r"mask with array.numpy\(\)\[mask\]"),
        ([[2**40]], ValueError, "do not fit i32"),
    ],
)
def test_a_list_of_anything_else_is_refused(lists, fault, what):
    with pytest.raises(fault, match=what):
        IndexedArray(zeros((3, 2)), [None if one is None else np.array(one) for one in lists])


def test_native_lists_are_bytes_of_whole_indices():
    for wrong in (b"123", bytearray(4), [0]):
        with pytest.raises(TypeError, match="bytes of i32"):
            _native.Indexed(zeros(1), (wrong,))


def test_it_keeps_the_memory():
    class Owner(np.ndarray):
        pass

    values = Owner((3,), "f4")
    watched = weakref.ref(values)
    chosen = array(values, copy=False)[[0]]
    del values
    gc.collect()
    assert watched() is not None
    del chosen
    gc.collect()
    assert watched() is None


def test_descriptors_say_all_that_their_layout_has_room_for():
    base = zeros((2, 3))
    turned, chosen = base.transpose(), base[[1]]
    assert base.descriptor(0) == base.descriptor(1)[:16]
    assert base.descriptor(1) == base.descriptor(2)[:32]
    assert turned.descriptor(1)[16:] == np.array([4, 12]).tobytes()
    assert chosen.descriptor(2)[:16] == base[:1].descriptor(1)[:16]
    for made, layout in ((turned, 0), (chosen, 1), (base, 3), (base, -1)):
        with pytest.raises(ValueError, match="no descriptor of layout"):
            made.descriptor(layout)
