"""Expectations against runs whose values the test chooses."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node.errors import PlantError
from sim_node.layout import Layout
from sim_node.replay.history import History
from sim_node.testing.expectation import Expectation

FIELDS = list(Layout.of([("x", dtypes.float32, (2,), "m"), ("x.true", dtypes.float32, (2,), ""),
                         ("on", dtypes.bool_, (), "")]))  # fmt: skip


def run(*rows, name="x", dt=0.1, dtype=np.float32):
    values = np.array(rows, dtype)
    return History(np.arange(1, len(rows) + 1) * dt, {name: values})


@given(
    rows=st.lists(st.tuples(*[st.floats(-3, 3, width=32) | st.just(math.nan)] * 2), min_size=1, max_size=12),
    low=st.integers(-3, 3),
    width=st.integers(0, 3),
    span=st.tuples(st.integers(0, 11), st.integers(1, 12)),
    when=st.sampled_from(["always", "once", "at_end"]),
)
def test_what_is_met_is_what_a_loop_finds(rows, low, width, span, when):
    after, until = span[0], span[0] + span[1]
    within = [
        all(low <= number <= low + width for number in row)
        for tick, row in enumerate(rows, 1)
        if after < tick <= until
    ]  # fmt: skip
    wanted = bool(within) and {"always": all(within), "once": any(within), "at_end": within[-1]}[when]
    expected = Expectation("e", "x", low, low + width, after * 0.1, until * 0.1, when)
    assert expected.judge(run(*rows), FIELDS).passed is wanted


@pytest.mark.parametrize(
    ("expected", "passed", "told"),
    [
        (Expectation("e", "x", 0, 5), True, "x from 1 to 4 m"),
        (Expectation("e", "x", 0, 3), False, "x = 4 m at 0.2 s, not in 0 … 3; in all from 1 to 4 m"),
        (Expectation("e", "x[0]", high=3), True, "x[0] from 1 to 3 m"),
        (Expectation("e", "x", 3, when="once"), True, "x so from 0.2 s on"),
        (Expectation("e", "x", 5, when="once"), False, "x from 1 to 4 m, never in 5 … inf"),
        (Expectation("e", "x", 3, 4, when="at_end"), True, "x from 3 to 4 m"),
        (Expectation("e", "x", 0, 3, after=0.1), False, "x = 4 m at 0.2 s, not in 0 … 3; in all from 3 to 4 m"),
        (Expectation("e", "x", 0, 3, until=0.1), True, "x from 1 to 2 m"),
        (Expectation("e", "x", 0, 3, after=0.2), False, "no tick ends in its span, 0.2 to inf s"),
    ],
)
def test_what_it_tells(expected, passed, told):
    found = expected.judge(run((1, 2), (3, 4)), FIELDS)
    assert (found.passed, found.told) == (passed, told)


def test_nan_is_in_no_range():
    expected = Expectation("e", "x")
    assert expected.judge(run((0, 1), (0, math.nan)), FIELDS).told == (
        "x = nan m at 0.2 s, not in -inf … inf; in all from 0 to 1 m, with NaN"
    )
    assert "NaN throughout" in expected.judge(run((math.nan, math.nan)), FIELDS).told


def test_other_variables():
    assert Expectation("e", "x.true[1]", 2, 2).judge(run((1, 2), name="x.true"), FIELDS).passed
    assert Expectation("e", "on", 1).judge(run(True, False, name="on", dtype=bool), FIELDS).passed is False
    with pytest.raises(PlantError, match="no input, state or output 'y'"):
        Expectation("e", "y").judge(run((1, 2)), FIELDS)
