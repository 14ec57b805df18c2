"""What sums lose is known exactly: against fractions."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node.lang.library import rounding

doubles = st.floats(-1e30, 1e30).map(np.float64).filter(lambda x: x == 0 or abs(x) > 1e-200)
SETTINGS = settings(max_examples=300, deadline=None, database=None)


def exact(*values):
    return sum(Fraction(float(value)) for value in values)


@SETTINGS
@given(doubles, doubles)
def test_what_a_sum_loses(a, b):
    assert exact(a + b, rounding.rest_of_any_sum(a + b, a, b)) == exact(a, b)
    large, small = (a, b) if abs(a) >= abs(b) else (b, a)
    assert exact(a + b, rounding.rest_of_sum(a + b, large, small)) == exact(a, b)


def test_one_input_has_a_result_of_its_own():
    one, two, three = np.float32(1), np.float32(2), np.float32(3)
    assert rounding.except_at(one, two, one, three) == three
    assert rounding.except_at(two, two, one, three) == two
