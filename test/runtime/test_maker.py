"""One name makes arrays, annotates parameters and says what is an array."""

from typing import Literal

import numpy as np
import pytest

import sim_node as sn
from sim_node.dtypes import ArrayType
from sim_node.errors import BuildTypeError


def test_an_annotation_is_called_or_subscripted():
    assert sn.array(dtype=sn.vec3) == sn.array[sn.vec3] == sn.array1d[sn.vec3] == ArrayType(sn.vec3)
    assert sn.array(dtype=float) == sn.array[float] == ArrayType(sn.float32)
    assert sn.array(dtype=int, ndim=2) == sn.array[int, Literal[2]] == sn.array[int, 2] == ArrayType(sn.int32, 2)
    assert sn.array2d(dtype=int) == sn.array2d[int] == ArrayType(sn.int32, 2)
    assert (sn.array3d[int].ndim, sn.array4d[int].ndim) == (3, 4)


@pytest.mark.parametrize(
    ("write", "error", "why"),
    [
        (lambda: sn.array(), TypeError, "needs data, or as an annotation a dtype"),
        (lambda: sn.array[float, 5], ValueError, "ndim must be between 1 and 4"),
        (lambda: sn.array[float, Literal[1, 2]], TypeError, "a single Literal"),
        (lambda: sn.array[float, 1, 2], TypeError, "a dtype and a number of dimensions"),
        (lambda: sn.array2d[float, 2], TypeError, "single type parameter"),
        (lambda: sn.array2d(dtype=float, ndim=3), ValueError, "ndim must be"),
        (lambda: sn.array2d([1.0]), ValueError, "the data has 1"),
    ],
)
def test_a_malformed_annotation_is_refused(write, error, why):
    with pytest.raises(error, match=why):
        write()


def test_what_is_no_dtype_is_named_by_the_build():
    @sn.kernel
    def k(x: sn.array[str]):
        pass

    with pytest.raises(BuildTypeError, match="parameter 'x': an array of what is no dtype: 'str' is"):
        sn.launch(k, 1, inputs=[sn.zeros(1)])


def test_data_makes_an_array_and_arrays_are_instances():
    flat, table = sn.array([1.0, 2.0]), sn.array2d(np.zeros((2, 3)), dtype=float)
    assert (flat.dtype, table.dtype, table.shape) == (sn.float32, sn.float32, (2, 3))
    assert isinstance(flat, sn.array)
    assert isinstance(flat, sn.array1d)
    assert not isinstance(flat, sn.array2d)
    assert isinstance(table, sn.array2d)
    assert not isinstance(np.zeros(2), sn.array)


def test_a_subscript_annotates_a_kernel():
    @sn.kernel
    def double(x: sn.array[float]):
        x[sn.tid()] *= 2.0

    x = sn.ones(3)
    sn.launch(double, 3, inputs=[x])
    assert list(x.numpy()) == [2.0, 2.0, 2.0]


def test_indexed_arrays_are_made_and_annotated_the_same_way():
    assert sn.indexedarray[float] == sn.indexedarray(dtype=float) == ArrayType(sn.float32, 1, "indexed")
    assert sn.indexedarray2d[int] == sn.indexedarray[int, Literal[2]] == ArrayType(sn.int32, 2, "indexed")
    base = sn.array([1.0, 2.0, 3.0])
    chosen = sn.indexedarray1d(base, [sn.array([2, 0])])
    assert isinstance(chosen, sn.indexedarray)
    assert isinstance(chosen, sn.indexedarray1d)
    assert not isinstance(chosen, sn.indexedarray2d)
    assert not isinstance(chosen, sn.array)
    assert chosen.list() == [3, 1]
    assert sn.indexedarray(base).list() == [1, 2, 3]
    assert sn.indexedarray(base, sn.array([1])).list() == [2]
    for make, why in (
        (lambda: sn.indexedarray2d(base, [[0]]), "the array has 1"),
        (lambda: sn.indexedarray(base, [0], dtype=int), "the array is of f32"),
    ):
        with pytest.raises(ValueError, match=why):
            make()
    with pytest.raises(TypeError, match=r"elements of an sn\.array, not of a ndarray"):
        sn.indexedarray(np.zeros(3), [0])
