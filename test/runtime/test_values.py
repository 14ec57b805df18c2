import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node.runtime import values

INTEGERS = [scalar for scalar in dtypes.SCALARS if scalar.is_integer]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5), st.sampled_from(INTEGERS))
def test_integers_arrive_whole_or_are_refused(numbers, scalar):
    limits = np.iinfo(scalar.numpy)
    data = np.array(numbers, np.int64)
    if all(limits.min <= n <= limits.max for n in numbers):
        assert values.numbers(data, scalar).tolist() == numbers
    else:
        with pytest.raises(ValueError, match=f"do not fit {scalar}, {limits.min} to {limits.max}"):
            values.numbers(data, scalar)


@pytest.mark.parametrize("scalar", dtypes.SCALARS, ids=repr)
def test_values_of_the_dtype_are_not_copied(scalar):
    data = np.zeros(3, scalar.numpy)
    assert values.numbers(data, scalar) is data


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([1.5], "i32"),
        ([2.0, np.nan], "i32"),
        ([3e9], "i32"),
        ([1j], "f64"),
        (["a"], "f32"),
        ([True, None], "bool"),
    ],
)
def test_a_conversion_that_drops_more_than_digits_is_refused(data, dtype):
    with pytest.raises(TypeError, match="without loss"):
        values.numbers(data, dtypes.element(dtype).scalar)


@pytest.mark.parametrize(("data", "dtype"), [([1.0, -2.0], "i32"), ([1, 0], "bool"), (3.0, "u64"), ([-0.0], "i64")])
def test_values_of_another_kind_that_stay_what_they_are_arrive(data, dtype):
    assert np.array_equal(values.numbers(data, dtypes.named(dtype).scalar), data)


def test_numbers_become_bools_as_python_has_it():
    assert values.numbers([0, 42, -1], dtypes.bool_).tolist() == [False, True, True]
    assert values.numbers([0.0, 0.5, np.nan], dtypes.bool_).tolist() == [False, True, True]


def test_a_float_too_large_is_refused_and_infinity_is_not():
    with pytest.raises(ValueError, match="do not fit f32, whose largest is"):
        values.numbers([1e39], dtypes.float32)
    assert np.isinf(values.numbers([np.inf], dtypes.float32)).all()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ([1, 2], "i32"),
        ([1.0], "f32"),
        ([True], "bool"),
        (np.zeros(1), "f64"),
        (np.zeros(1, "u4"), "u32"),
        (np.float64(1), "f64"),
        (7, "i32"),
    ],
)
def test_python_numbers_take_the_language_s_dtype_and_numpy_keeps_its_own(data, name):
    assert values.dtype_of(data).name == name


def test_a_vector_is_the_last_axis_or_as_many_numbers_in_a_row():
    assert values.many([[1, 2, 3]], dtypes.vec3)[0].shape == (1, 3)
    assert values.many([1, 2, 3, 4, 5, 6], dtypes.vec3)[0].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert values.many([], dtypes.vec3)[0].shape == (0, 3)
    assert values.many([[1, 2, 3, 4, 5, 6]], dtypes.vec3)[0].tolist() == [[[1, 2, 3], [4, 5, 6]]]
    assert values.many([[1, 2], [3, 4]], dtypes.mat22)[0].tolist() == [[[1, 2], [3, 4]]]
    assert values.many([[1, 2, 3, 4]] * 3, dtypes.mat22)[0].tolist() == [[[1, 2], [3, 4]]] * 3
    for wrong in ([1, 2], [[1, 2]], 1.0):
        with pytest.raises(ValueError, match=r"an array of vec3f needs values of shape \(n, 3\), not"):
            values.many(wrong, dtypes.vec3)
    with pytest.raises(ValueError, match=r"write \[1.0\]"):
        values.many(1.0, dtypes.float32)


def test_one_element_is_a_number_or_its_components():
    assert values.one(2, dtypes.vec3)[0].shape == ()
    assert values.one((1, 2, 3), dtypes.vec3)[0].tolist() == [1, 2, 3]
    for value, dtype in ((1, 2), dtypes.vec3), ((1,), dtypes.float32):
        with pytest.raises(ValueError, match="has not the shape"):
            values.one(value, dtype)
