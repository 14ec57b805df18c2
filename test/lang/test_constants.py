"""Constants have the digits that mathematics gives them."""

import gmpy2
import numpy as np
import pytest

import sim_node as sn

EXACT = {
    "E": lambda: gmpy2.exp(1),
    "LOG2E": lambda: 1 / gmpy2.log(2),
    "LOG10E": lambda: 1 / gmpy2.log(10),
    "LN2": lambda: gmpy2.log(2),
    "LN10": lambda: gmpy2.log(10),
    "PHI": lambda: (1 + gmpy2.sqrt(5)) / 2,
    "PI": gmpy2.const_pi,
    "HALF_PI": lambda: gmpy2.const_pi() / 2,
    "TAU": lambda: 2 * gmpy2.const_pi(),
    "INF": lambda: gmpy2.inf(),
}


@pytest.mark.parametrize("name", EXACT)
def test_a_constant_is_the_nearest_number(name):
    with gmpy2.context(gmpy2.get_context(), precision=200):
        assert getattr(sn, name) == getattr(sn, name.lower()) == float(EXACT[name]())


def test_nan_is_none_and_a_constant_is_what_it_was_given():
    assert np.isnan(sn.nan)
    assert np.isnan(sn.NAN)
    assert sn.constant(3) == 3


@sn.kernel
def turn(x: sn.array(dtype=sn.float64)):
    x[sn.tid()] = sn.float64(sn.TAU)


def test_a_kernel_gets_all_its_digits():
    x = sn.zeros(2, dtype=sn.float64)
    sn.launch(turn, 2, inputs=[x])
    assert list(x.numpy()) == [sn.tau, sn.tau]
