from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sim_node.node.schedule import Schedule

RATES = st.one_of(st.integers(1, 20_000).map(float), st.floats(1e-3, 1e6).map(lambda rate: float(f"{rate:.6g}")))


def due(schedule, steps):
    """The steps of a range at which the count changes."""
    return [step for step in steps if schedule.index(step) != schedule.index(step - 1)]


def test_three_hundred_of_a_thousand():
    schedule = Schedule(300.0, 1000.0)
    assert due(schedule, range(1, 21)) == [4, 7, 10, 14, 17, 20]
    assert schedule.index(10**12) == 3 * 10**11


def test_a_rate_is_the_decimal_number_that_it_is_written_as():
    assert Schedule(0.1, 1.0).index(10**15) == 10**14
    assert Schedule(0.3, 0.1).after(7) == 8  # faster than ticks come: each of them


@given(RATES, RATES, st.integers(0, 10**15), st.integers(1, 10**6))
def test_any_two_rates_are_exact_on_average_and_never_drift(rate, of, start, length):
    schedule = Schedule(rate, of)
    wanted = min(Fraction(repr(rate)) / Fraction(repr(of)), 1)
    for step in (start, start + length):
        assert 0 <= step * wanted - schedule.index(step) < 1
    assert abs(schedule.index(start + length) - schedule.index(start) - length * wanted) < 1


@given(RATES, RATES, st.integers(0, 10**9))
def test_the_next_due_tick_is_the_first_at_which_the_count_changes(rate, of, step):
    schedule = Schedule(rate, of)
    after = schedule.after(step)
    assert after > step
    assert schedule.index(after - 1) == schedule.index(step)
    assert schedule.index(after) == schedule.index(step) + 1
