"""Types as constructors of host values."""

import numpy as np
import pytest

import sim_node as sn
from sim_node import dtypes


@pytest.mark.parametrize(
    ("dtype", "value", "wanted"),
    [
        (sn.int32, 2.9, 2),
        (sn.int32, -2.9, -2),
        (sn.int32, 3e9, 2**31 - 1),
        (sn.int32, np.float32(-3e9), -(2**31)),
        (sn.int64, np.inf, 2**63 - 1),
        (sn.uint32, -1.5, 0),
        (sn.uint64, np.float64(2.0**64), 2**64 - 1),
        (sn.uint64, np.nan, 0),
    ],
)
def test_floats_saturate_as_integers(dtype, value, wanted):
    converted = dtype(value)
    assert converted == wanted
    assert converted.dtype == dtype.numpy


def test_vectors_take_no_components_one_or_all():
    assert list(sn.vec3()) == [0.0, 0.0, 0.0]
    assert list(sn.vec2d(1.5)) == [1.5, 1.5]
    assert list(sn.vec3i(1, 2, 3)) == list(sn.vec3i([1, 2, 3])) == [1, 2, 3]
    with pytest.raises(ValueError, match="takes 0, 1 or 3 numbers"):
        sn.vec3(1.0, 2.0)


def test_types_and_numpys_dtypes_lead_to_each_other():
    for scalar in dtypes.SCALARS:
        assert dtypes.dtype_from_numpy(scalar.numpy) is dtypes.dtype_from_numpy(scalar.numpy.type) is scalar
        assert dtypes.dtype_to_numpy(scalar) == scalar.numpy
    assert dtypes.dtype_to_numpy(float) == np.float32
    with pytest.raises(TypeError, match="not a dtype"):
        dtypes.dtype_from_numpy(np.complex64)
