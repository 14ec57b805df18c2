"""Scaling against cantools, which knows the format: what we write it reads, within the range and half a step."""

import math

import pytest
from cantools.database.can.signal import Signal
from cantools.database.conversion import BaseConversion
from hypothesis import given
from hypothesis import strategies as st

from sim_node.wires.scaling import Scaling


def made(length=8, signed=False, scale=1.0, offset=0.0, low=None, high=None, real=False, initial=None):
    conversion = BaseConversion.factory(scale=scale, offset=offset, is_float=real)
    return Signal(
        "x", 0, length, "little_endian", signed, raw_initial=initial, conversion=conversion, minimum=low, maximum=high
    )


@st.composite
def signals(draw):
    real = draw(st.booleans())
    length = draw(st.sampled_from([32, 64])) if real else draw(st.integers(1, 32))
    limits = draw(st.lists(st.integers(-1000, 1000), min_size=2, max_size=2, unique=True).map(sorted))
    return made(
        length,
        draw(st.booleans()),
        draw(st.sampled_from([0.001, 0.01, 0.1, 0.5, 1.0, 3.6, -0.25])),
        draw(st.integers(-100, 100)),
        *draw(st.sampled_from([limits, (None, None)])),
        real=real,
    )


@given(signals(), st.floats(-1e7, 1e7))
def test_what_is_written_reads_back(signal, value):
    scaling = Scaling(signal)
    raw, saturated = scaling.raw(value)
    assert scaling.raw_low <= raw <= scaling.raw_high
    if not saturated:
        step = 0.0 if signal.is_float else abs(signal.scale) / 2
        assert abs(signal.raw_to_scaled(raw) - value) <= step + 1e-9 * max(abs(value), 1.0)
        again, beyond = scaling.within(raw)
        assert (again, beyond) == (raw, False)


@pytest.mark.parametrize(
    ("signal", "value", "raw", "saturated"),
    [
        (made(), 255.4, 255, False),
        (made(), 256.0, 255, True),
        (made(), -1.0, 0, True),
        (made(signed=True), -129.0, -128, True),
        (made(scale=0.1, high=25.5), 25.5, 255, False),
        (made(low=10, high=20), 9.0, 10, True),
        (made(16, True, -0.25, 3.0, -10, 20), 20.0, -68, False),
        (made(16, True, -0.25, 3.0, -10, 20), 21.0, -68, True),
        (made(16, True, -0.25, 3.0, -10, 20), -11.0, 52, True),
        (made(), math.nan, 0, True),
        (made(initial=7), math.nan, 7, True),
        (made(), math.inf, 255, True),
        (made(low=300, high=400), 7.0, 7, False),
        (made(low=-9, high=-5), -5.0, 0, True),
        (made(32, real=True), 1e30, 1e30, False),
        (made(32, real=True, high=5.0), 6.0, 5.0, True),
    ],
)
def test_where_it_saturates(signal, value, raw, saturated):
    assert Scaling(signal).raw(value) == (raw, saturated)


def test_the_range_it_tells():
    scaling = Scaling(made(16, True, -0.25, 3.0, -10, 20))
    assert (scaling.low, scaling.high, scaling.raw_high) == (-10.0, 20.0, 52)
    assert scaling.within(math.nan) == (0, True)
    assert scaling.within(100) == (52, True)
