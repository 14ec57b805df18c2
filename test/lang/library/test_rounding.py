"""Sums lose nothing, and round once: against exact fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sim_node.lang.library import rounding

doubles = st.floats(-1e30, 1e30).map(np.float64).filter(lambda x: x == 0 or abs(x) > 1e-200)
ones = st.floats(0.5, 2.0).map(np.float64)
SETTINGS = settings(max_examples=300, deadline=None, database=None)


def exact(*values):
    return sum(Fraction(float(value)) for value in values)


@SETTINGS
@given(doubles, doubles)
def test_what_a_sum_loses(a, b):
    assert exact(a + b, rounding.rest_of_any_sum(a + b, a, b)) == exact(a, b)
    large, small = (a, b) if abs(a) >= abs(b) else (b, a)
    assert exact(a + b, rounding.rest_of_sum(a + b, large, small)) == exact(a, b)


@SETTINGS
@given(doubles, st.floats(-1.0, 1.0))
@example(np.float64(1.0), 0.0)
@example(np.float64(1.0), 2.0**-54)
@example(np.float64(1.0), -(2.0**-55))
@example(np.float64(-1.5), 2.0**-200)
def test_to_odd(large, factor):
    small = np.float64(large * factor)
    total, true = rounding.odd_sum(large, small), exact(large, small)
    odd = bool(np.float64(total).view(np.uint64) & 1)
    assert exact(total) == true or (odd and abs(exact(total) - true) < Fraction(float(np.spacing(abs(total)))))


@SETTINGS
@given(st.integers(2**23, 2**24 - 1), st.sampled_from([-1, 1]), st.integers(30, 200))
def test_a_hair_beside_the_middle_decides(significand, side, bits):
    # exactly between two f32, plus or minus what no f64 sum can hold
    middle = np.float64(significand + 0.5)
    wanted = significand if side < 0 else significand + 1
    assert rounding.rounded_sum(middle, np.float64(side * 2.0**-bits)) == np.float32(wanted)
    assert type(rounding.rounded_sum(middle, np.float64(0.0))) is np.float32


@SETTINGS
@given(ones, ones, st.floats(-(2.0**-54), 2.0**-54), st.floats(-(2.0**-54), 2.0**-54))
@example(np.float64(1.0), np.float64(1.0), 0.0, 0.0)
def test_quotient(above, below, above_tail, below_tail):
    result = rounding.rounded_quotient(above, np.float64(above_tail), below, np.float64(below_tail))
    true = exact(above, above_tail) / exact(below, below_tail)
    spacing = Fraction(float(np.spacing(np.float32(result))))
    assert abs(exact(result) - true) <= spacing / 2 + spacing / 2**30
