"""Vectors on the host: constructors, parts, arithmetic with the kernels' bits, and numpy's view."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sim_node as sn
from sim_node.dtypes import COMPOSITES, Kind, Vector

VECTORS = [kind for kind in dict.fromkeys(COMPOSITES.values()) if isinstance(kind, Vector)]


def test_constructors() -> None:
    wanted = np.array([1, 2, 3], np.float32)
    for made in (sn.vec3(1, 2.0, np.int64(3)), sn.vec3([1, 2, 3]), sn.vec3((1, 2, 3)), sn.vec3(np.arange(1, 4)),
                 sn.vec3(sn.vec3(1, 2, 3)), sn.vec3(sn.vec3i(1, 2, 3)), sn.vec3(range(1, 4))):  # fmt: skip
        assert np.array_equal(made, wanted)
        assert np.asarray(made).dtype == np.float32
    assert sn.vec3() == (0, 0, 0)
    assert sn.vec3(True) == (1, 1, 1)
    assert sn.vec2i(sn.vec2(3e9, np.nan)) == (2**31 - 1, 0)


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: sn.vec3(1, 2), ValueError, "takes 0, 1 or 3 numbers, not 2"),
        (lambda: sn.vec3([1, 2]), ValueError, "takes 0, 1 or 3 numbers, not 2"),
        (lambda: sn.vec3("abc"), TypeError, "f32 is not made of a str"),
        (lambda: sn.vec3(None), TypeError, "takes numbers, not a NoneType"),
        (lambda: sn.vec3i(1.5, 2, 3), TypeError, "i32 is not made of the float 1.5"),
        (lambda: sn.vec3i(2**31), OverflowError, "out of bounds"),
        (lambda: sn.vec3u(np.int64(-1)), OverflowError, "out of bounds"),
        (lambda: sn.vec3(1) + sn.vec3d(1), TypeError, r"'\+' mixes vec3f and vec3d"),
        (lambda: sn.vec3(1) + 1.0, TypeError, r"'\+' mixes vec3f and a float"),
        (lambda: sn.vec3(1) * sn.vec3(1), TypeError, "not defined for vec3f and vec3f"),
        (lambda: sn.vec3(1) * np.float64(2), TypeError, r"mixes vec3f and float64; convert it first: sn.float32\(…\)"),
        (lambda: sn.vec3i(1) * 2.5, TypeError, "i32 is not made of the float 2.5"),
        (lambda: sn.vec3(1) * True, TypeError, "mixes vec3f and the bool True"),
        (lambda: sn.vec3(1, length=2), TypeError, "not 'length' by name"),
        (lambda: sn.vec3i(1) / 2, TypeError, "integers are divided by //"),
        (lambda: sn.vec3i(1, 2, 3) // sn.vec3i(1, 0, 1), ZeroDivisionError, "division by zero"),
        (lambda: sn.vec2i(-(2**31)) // sn.vec2i(-1), OverflowError, "integer overflow"),
        (lambda: sn.vec3(1)[3], IndexError, "out of bounds"),
        (lambda: sn.vec3(1)[1.0], TypeError, "indexed by an integer or a slice"),
        (lambda: sn.vec2(1).z, AttributeError, "vec2f has no 'z'; its components are x, y"),
        (lambda: hash(sn.vec3()), TypeError, "unhashable"),
    ],
)
def test_what_is_refused(make: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make()


def test_parts_are_read_as_typed_values_and_written_in_place() -> None:
    v = sn.vec4(1, 2, 3, 4)
    assert type(v[0]) is np.float32
    assert (v[-1], v.y) == (4, 2)
    assert v[1:] == (2, 3, 4)
    assert [*v[::-2]] == [4, 2]
    part = v[:2]
    part[0] = 9
    assert v.x == 1
    v.x, v[1], v[-2:] = 5, np.float64(0.1), (7, 8)
    assert v == (5, np.float32(0.1), 7, 8)
    v[1:3] = 0
    assert v == (5, 0, 0, 8)
    with pytest.raises(ValueError, match="1 numbers where 2 are needed"):
        v[:2] = [1]
    assert len(v) == 4
    assert v.shape == (4,)
    assert v.dtype == sn.float32
    v[0] = -np.float32(np.nan)
    assert np.asarray(v).view(np.uint32)[0] == 0x7FC00000


def test_copies_are_values_of_their_own() -> None:
    v = sn.vec3(1, 2, 3)
    for twin in (copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v)), +v, sn.vec3(v)):
        assert twin == v
        twin[0] = 7
        assert v.x == 1
    w = v
    w += sn.vec3(1)
    assert v == (1, 2, 3)


def test_numpy_sees_the_memory_and_leaves_operators_to_the_vector() -> None:
    v = sn.vec3(1, 2, 3)
    np.asarray(v)[0] = 5
    assert v.x == 5
    assert np.array(v, np.float64).dtype == np.float64
    assert np.array([v, v]).shape == (2, 3)
    assert isinstance(np.float32(2) * v, type(v))
    assert np.array_equal(np.ones(3, np.float32) + v, [6, 3, 4])
    assert np.array_equal(v * np.array([1, 2, 3]), [5, 4, 9])
    assert np.array_equal(np.sqrt(sn.vec2(4, 9)), [2, 3])


def test_it_prints_as_it_is_written() -> None:
    assert str(sn.vec3(0.1, 2, -3)) == "[0.1, 2.0, -3.0]"
    assert repr(sn.vec2i(1, 2)) == "vec2i([1, 2])"


def test_library_funcs_take_and_give_vectors() -> None:
    v = sn.vec3(1, 2, 2)
    assert sn.cross(v, sn.vec3(0, 0, 1)) == sn.vec3(2, -1, 0)
    assert (sn.dot(v, v), sn.length(v)) == (9, 3)
    assert sn.normalize(v) == v / 3.0
    assert sn.lerp(v, sn.vec3(), 0.5) == (0.5, 1, 1)


@sn.kernel
def sums(a: sn.array(dtype=sn.vec3), b: sn.array(dtype=sn.vec3), s: float, y: sn.array(dtype=sn.vec3)):
    i = sn.tid()
    y[0] = a[i] + b[i]
    y[1] = a[i] - b[i]
    y[2] = s * a[i]
    y[3] = b[i] / s
    y[4] = -a[i]
    y[5] = sn.normalize(a[i])


numbers = st.floats(width=32, allow_nan=False, allow_subnormal=True)


@given(st.lists(numbers, min_size=7, max_size=7))
def test_arithmetic_has_the_bits_of_kernels(values: list[float]) -> None:
    a, b, s = sn.vec3(values[:3]), sn.vec3(values[3:6]), np.float32(values[6])
    y = np.zeros((6, 3), np.float32)
    sn.launch(sums, 1, inputs=[np.array([a]), np.array([b]), s, y])
    with np.errstate(all="ignore"):
        host = [a + b, a - b, s * a, b / s, -a, sn.normalize(a)]
    assert np.array_equal(np.array(host), y, equal_nan=True)
    assert np.array_equal(np.signbit(np.array(host)) & ~np.isnan(y), np.signbit(y))


@pytest.mark.parametrize(
    "kind", [kind for name, kind in COMPOSITES.items() if isinstance(kind, Vector) and name == kind.name], ids=repr
)
def test_every_vector_type_makes_values(kind: Vector) -> None:
    made = kind(*range(kind.length))
    assert [*made] == [*range(kind.length)]
    assert made + made == made * 2
    if kind.scalar.kind is not Kind.UINT:
        assert -made == kind() - made
    assert made % kind(2) == [part % 2 for part in range(kind.length)]
