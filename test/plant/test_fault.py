import math

import pytest

from sim_node import dtypes
from sim_node.errors import PlantError
from sim_node.layout import Layout
from sim_node.plant.fault import ALWAYS, Fault

DT_NS = 2_000_000
LAYOUT = Layout.of(
    (name, kind, shape, "")
    for name, kind, shape in (
        ("x", dtypes.float32, (3,)),
        ("v", dtypes.named("vec3f"), (4,)),
        ("n", dtypes.int8, ()),
        ("b", dtypes.bool_, ()),
    )
)


def made(name, step=0, **asked):
    return Fault.of(asked, LAYOUT[name], DT_NS, step)


def test_seconds_become_ticks():
    """Tick k ends at k·dt: what begins at 1 s is in the first tick that ends later, what lasts until then is not."""
    fault = made("x", stuck_at=1, after=1.0, until=1.5)
    assert (fault.first, fault.last) == (501, 750)
    assert made("x", stuck_at=1, after=0.0011).first == 1
    assert made("x", stuck_at=1, after=0.3).first == 151  # although 0.3 / 0.002 is less than 150
    assert made("x", delay=0.01).value == 5


def test_ticks_are_taken_as_they_are():
    fault = made("x", gain=2, first_tick=3, last_tick=3)
    assert [fault.is_active(step) for step in (2, 3, 4)] == [False, True, False]


def test_it_begins_with_the_next_tick_and_stays():
    fault = made("x", 41, offset=1.5)
    assert (fault.first, fault.last, fault.element, fault.seed) == (42, ALWAYS, -1, 0)


def test_nan_is_a_value_and_infinity_is_one_to_be_stuck_at():
    assert math.isnan(made("x", nan=True).value)
    assert made("x", stuck_at=math.inf).value == math.inf
    assert made("b", stuck_at=True).value == 1


@pytest.mark.parametrize(("element", "number"), [(5, 5), ([1, 2], 5), (11, 11), (None, -1)])
def test_an_element_is_counted_in_c_order(element, number):
    assert made("v", nan=True, element=element).element == number


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("x", "stuck_at", 0.5, 2, 3, 9), "x[2] stuck_at 0.5 from tick 3 to 9"),
        (Fault("x", "delay", 5), "x delay 5 ticks from tick 1"),
        (Fault("x", "nan", math.nan), "x nan from tick 1"),
    ],
)
def test_it_is_told_in_a_line(fault, text):
    assert str(fault) == text


@pytest.mark.parametrize(
    ("name", "asked", "message"),
    [
        ("x", {}, "nothing is asked for; ask for one of stuck_at, offset"),
        ("x", {"gain": 1, "offset": 1}, "gain and offset is asked for"),
        ("x", {"stuckat": 1}, "no 'stuckat'; did you mean 'stuck_at'?"),
        ("x", {"gain": "2"}, "gain takes a number, not '2'"),
        ("x", {"gain": True}, "gain takes a number, not True"),
        ("x", {"gain": math.nan}, "gain takes a finite number, not nan"),
        ("x", {"nan": 1}, "nan is asked for by true, not 1"),
        ("n", {"nan": True}, "nan is for floats, and this is i8; ask for stuck_at"),
        ("n", {"stuck_at": 300}, "i8 cannot be stuck at 300; it holds -128 … 127"),
        ("n", {"stuck_at": 0.5}, "i8 cannot be stuck at 0.5"),
        ("b", {"stuck_at": 2}, "bool cannot be stuck at 2; it holds 0 … 1"),
        ("b", {"noise": 2}, "a bool has no noise; ask for stuck_at, drop"),
        ("x", {"flip_bit": 32}, r"f32 has the bits 0 … 31, and no 32"),
        ("x", {"flip_bit": 1.5}, "f32 has the bits"),
        ("x", {"drop": 1.1}, r"drop is a probability in 0 … 1, not 1.1"),
        ("x", {"noise": -1}, "noise is a standard deviation of at least 0, not -1"),
        ("x", {"delay": -1}, "delay is a time of at least 0 s, not -1 s"),
        ("x", {"delay": 1e300}, "delay is a time of at least 0 s"),
        ("x", {"gain": 1, "seed": -1}, r"seed is a whole number in 0 … 4294967295, not -1"),
        ("x", {"gain": 1, "seed": True}, "seed is a whole number"),
        ("x", {"gain": 1, "first_tick": 1.5}, "first_tick is a whole number"),
        ("x", {"gain": 1, "after": 1, "first_tick": 3}, "after and first_tick say the same; give one of them"),
        ("x", {"gain": 1, "after": 1, "until": 1}, "it would end with tick 500, before its first, 501"),
        ("x", {"gain": 1, "element": 3}, r"element 3 is none of shape \[3\]"),
        ("x", {"gain": 1, "element": -1}, "element -1 is none"),
        ("x", {"gain": 1, "element": True}, "element True is none"),
        ("v", {"gain": 1, "element": [1, 2, 3]}, r"is none of shape \[4, 3\]; give an index an axis, or one in C"),
    ],
)
def test_what_cannot_be_is_refused(name, asked, message):
    with pytest.raises(PlantError, match=message):
        made(name, **asked)
