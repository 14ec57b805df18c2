"""Scalars: their codes, which files keep, and their one leaf."""

import numpy as np
import pytest

from sim_node.dtypes import SCALARS, Leaf, pointer

CODES = ["bool", "i32", "u32", "i64", "u64", "f32", "f64", "f16", "i8", "u8", "i16", "u16"]


def test_codes_never_change():
    assert [scalar.name for scalar in sorted(SCALARS, key=lambda scalar: scalar.code)] == CODES
    assert [scalar.code for scalar in SCALARS] == sorted(range(12), key=[s.code for s in SCALARS].index)
    assert pointer.code == 12


@pytest.mark.parametrize("scalar", [*SCALARS, pointer], ids=repr)
def test_one_leaf(scalar):
    assert scalar.leaves == (Leaf(scalar, 0),)
    assert scalar.size == scalar.align == scalar.numpy.itemsize
    assert np.dtype(scalar.numpy).itemsize * 8 == max(scalar.bits, 8)
