"""Pairs of f64 lose nothing that matters: against exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node.lang.library.double import parts

numbers = st.floats(-1e60, 1e60).map(np.float64).filter(lambda x: x == 0 or abs(x) > 1e-60)
small = st.floats(-(2.0**-54), 2.0**-54).map(np.float64)
SETTINGS = settings(max_examples=300, deadline=None, database=None)


def exact(*values):
    return sum(Fraction(float(value)) for value in values)


@SETTINGS
@given(numbers, numbers)
def test_what_a_product_loses(a, b):
    product = a * b
    rest = parts.rest_of_product(product, a, b)
    assert exact(product, rest) == exact(a) * exact(b)


@SETTINGS
@given(numbers, small, numbers, small)
def test_pairs(a, a_part, b, b_part):
    a_tail, b_tail = a * a_part, b * b_part
    product = parts.pair_product(a, a_tail, b, b_tail)
    true = exact(a, a_tail) * exact(b, b_tail)
    assert abs(exact(*product) - true) <= abs(true) / 2**100
    total = parts.pair_sum(a, a_tail, b, b_tail)
    lost = abs(exact(*total) - exact(a, a_tail, b, b_tail))
    assert lost <= (abs(exact(a)) + abs(exact(b))) / 2**100


@SETTINGS
@given(st.floats(0.5, 2.0).map(np.float64), small, st.floats(0.5, 2.0).map(np.float64), small)
def test_quotient(above, above_tail, below, below_tail):
    result = parts.quotient(above, above_tail, below, below_tail)
    true = exact(above, above_tail) / exact(below, below_tail)
    assert abs(exact(result) - true) <= Fraction(float(np.spacing(result))) * 33 / 64


@SETTINGS
@given(st.integers(-1074, 1023))
def test_powers_of_two(k):
    assert parts.scaled(np.float64(1.5), np.int64(k)) == np.ldexp(1.5, k)
    assert parts.counted(parts.whole(np.float64(k + 0.25))) == k
