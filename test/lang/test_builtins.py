"""Builtins in plain Python, on numpy scalars; in kernels they are tested against these."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import SimNodeError
from sim_node.lang.builtins import BUILTINS, quot, rem, thread

NAN = np.float32(np.nan)


def test_every_builtin_is_public():
    for name, row in BUILTINS.items():
        assert getattr(sn, name) is row


def test_types_are_kept():
    assert sn.sqrt(np.float32(2)) == np.sqrt(np.float32(2))
    for row in (sn.sqrt, sn.floor, sn.ceil, sn.trunc, sn.rint, sn.abs):
        assert row(np.float32(2.5)).dtype == np.float32
    assert sn.rint(np.float32(2.5)) == 2.0
    assert sn.trunc(np.float64(-2.5)) == -2.0


@pytest.mark.parametrize(
    ("a", "b", "least", "greatest"),
    [(1.0, 2.0, 1.0, 2.0), (2.0, 1.0, 1.0, 2.0), (NAN, 1.0, 1.0, 1.0), (1.0, NAN, 1.0, 1.0), (NAN, NAN, NAN, NAN),
     (0.0, -0.0, -0.0, 0.0), (-0.0, 0.0, -0.0, 0.0), (-np.inf, NAN, -np.inf, -np.inf)],
)  # fmt: skip
def test_numbers_win_over_nan(a, b, least, greatest):
    a, b = np.float32(a), np.float32(b)
    for got, wanted in ((sn.min(a, b), least), (sn.max(a, b), greatest)):
        np.testing.assert_equal(got, wanted)
        assert np.signbit(got) == np.signbit(wanted)


def test_min_of_many():
    assert sn.min(3, 1, 2) == 1
    assert sn.max(3, 5, 4) == 5


def test_cast_keeps_the_bits_and_one_nan():
    assert sn.cast(np.float32(1.0), sn.uint32) == 0x3F800000
    assert sn.cast(np.uint64(0x3FF0000000000000), sn.float64) == 1.0
    for bits in (0x7FC00001, 0xFFC00000, 0x7F800001):
        assert sn.cast(np.uint32(bits).view(np.float32), sn.uint32) == 0x7FC00000
    with pytest.raises(TypeError, match="differ in width"):
        sn.cast(np.float32(1.0), sn.uint64)


@pytest.mark.parametrize(("a", "b", "q", "r"), [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1)])
def test_truncating_division(a, b, q, r):
    assert quot(np.int32(a), np.int32(b)) == q
    assert rem(np.int32(a), np.int32(b)) == r


def test_tid_is_the_running_threads():
    with pytest.raises(SimNodeError, match="only inside a kernel"):
        sn.tid()
    with thread(5):
        assert sn.tid() == 5
        assert sn.tid().dtype == np.int32
        with ThreadPoolExecutor(1) as pool, pytest.raises(SimNodeError):
            pool.submit(sn.tid).result()
    with pytest.raises(SimNodeError):
        sn.tid()


def test_vector():
    v = sn.vector(np.float64(1), np.float64(2))
    assert list(v) == [1.0, 2.0]
    assert v.dtype == sn.float64
    assert v + v == sn.vec2d(2.0, 4.0)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_fma_rounds_once(kind):
    random = np.random.default_rng(5)
    for a, b, c in random.standard_normal((200, 3)).astype(kind):
        c = kind(-(a * b)) if random.random() < 0.5 else c  # what is left is the product's rounding error
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        result = sn.fma(a, b, c)
        assert type(result) is kind
        neighbours = (np.nextafter(result, kind(9)), np.nextafter(result, kind(-9)))
        assert all(abs(Fraction(float(result)) - exact) <= abs(Fraction(float(other)) - exact) for other in neighbours)
    with np.errstate(all="ignore"):
        assert np.isnan(sn.fma(kind(np.inf), kind(0), kind(1)))
    assert sn.fma(kind(3e38), kind(3e38), kind(0)) == (np.inf if kind is np.float32 else kind(3e38) ** 2)
