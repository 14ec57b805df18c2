"""How arrays lie: what fits where a struct keeps an array."""

import numpy as np
import pytest

import sim_node as sn
from sim_node.compiler.frontend import lower
from sim_node.compiler.frontend.layouts import fits
from sim_node.dtypes import ArrayType, float32, int32
from sim_node.errors import BuildTypeError


def test_a_contiguous_array_is_one_with_strides_too():
    plain, strided, indexed = (ArrayType(int32, 2, layout) for layout in ("contiguous", "strided", "indexed"))
    assert fits(plain, strided)
    assert not fits(strided, plain)
    assert not fits(plain, plain)
    assert not fits(plain, indexed)
    assert not fits(ArrayType(float32, 2), strided)


@sn.struct
class Pair:
    data: sn.array(dtype=sn.int32, ndim=2)


@sn.struct
class Other:
    data: sn.array(dtype=sn.float32, ndim=2)


def test_strides_are_those_of_c_order(execute):
    @sn.kernel
    def read(data: sn.array(dtype=sn.int32, ndim=2), out: sn.array(dtype=sn.int32)):
        pair = Pair(data)
        out[0] = pair.data[1, 2]

    out = np.zeros(1, np.int32)
    assert execute(lower(read), 1, np.arange(12, dtype=np.int32).reshape(3, 4), out).code == 0
    assert out[0] == 6


def test_an_array_of_another_type_is_none():
    @sn.kernel
    def read(data: sn.array(dtype=sn.int32, ndim=2)):
        other = Other(data)
        other.data[0, 0] = 1.0

    with pytest.raises(BuildTypeError, match="'data' is array<f32, 2, strided>, not array<i32, 2>"):
        lower(read)
