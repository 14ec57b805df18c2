import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("rclpy", reason="installed without ROS")

from sim_node.kernels.quarter_car import QuarterCar
from sim_node.node.parameters import INT_MAX, PLANT, Declaration, ParameterError, of_plant

GAIN = Declaration("gain", 1.0, "how much", "N/m", low=0.0, high=10.0)
COUNT = Declaration("count", 1, "how many", low=1)
MODE = Declaration("mode", "fast", "how", choices=("fast", "slow"))
SWITCH = Declaration("switch", True, "whether")
NAMES = Declaration("names", (), "which")


@pytest.mark.parametrize(
    ("declaration", "written", "meant"),
    [
        (GAIN, 5, 5.0),
        (GAIN, "1e-3", 1e-3),
        (GAIN, "5e-06", 5e-6),
        (GAIN, 0, 0.0),
        (COUNT, 3.0, 3),
        (COUNT, "1e3", 1000),
        (COUNT, str(INT_MAX), INT_MAX),
        (MODE, "slow", "slow"),
        (SWITCH, "False", False),
        (SWITCH, False, False),
        (NAMES, ["a", "b"], ("a", "b")),
        (NAMES, [], ()),
    ],
)
def test_what_yaml_makes_of_a_value_is_converted(declaration, written, meant):
    converted = declaration.convert(written)
    assert converted == meant
    assert type(converted) is type(declaration.default)


@pytest.mark.parametrize(
    ("declaration", "written", "told"),
    [
        (GAIN, "fast", "parameter 'gain' takes a finite number, not 'fast'"),
        (GAIN, math.nan, "takes a finite number, not nan"),
        (GAIN, "inf", "takes a finite number, not 'inf'"),
        (GAIN, True, "takes a finite number, not True"),
        (GAIN, None, "takes a finite number, not None"),
        (GAIN, [1.0], "takes a finite number"),
        (GAIN, -1, "parameter 'gain' = -1 is less than 0 N/m"),
        (GAIN, 10.5, "parameter 'gain' = 10.5 is more than 10 N/m"),
        (COUNT, 1.5, "takes a whole number, not 1.5"),
        (COUNT, True, "takes a whole number"),
        (COUNT, 0, "is less than 1"),
        (COUNT, 2**63, "takes a whole number"),
        (MODE, "slo", "parameter 'mode' is one of fast, slow, not 'slo'"),
        (MODE, 5, "takes text, not 5"),
        (SWITCH, "maybe", "takes true or false, not 'maybe'"),
        (SWITCH, 1, "takes true or false"),
        (NAMES, "a", "parameter 'names' takes a list of texts, not 'a'"),
        (NAMES, ["a", 1], "takes a list of texts"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_the_reason(declaration, written, told):
    with pytest.raises(ParameterError) as refused:
        declaration.convert(written)
    assert told in str(refused.value)


@given(st.floats(0.0, 10.0))
def test_a_number_and_its_text_mean_the_same(value):
    assert GAIN.convert(value) == GAIN.convert(repr(value)) == value


@given(st.integers(1, INT_MAX))
def test_no_digit_of_an_int_is_lost(value):
    assert COUNT.convert(value) == COUNT.convert(str(value)) == value


def test_descriptors_hold_range_unit_and_choices():
    assert GAIN.descriptor().description == "how much [N/m]"
    ranges = GAIN.descriptor().floating_point_range[0], COUNT.descriptor().integer_range[0]
    assert [(each.from_value, each.to_value) for each in ranges] == [(0.0, 10.0), (1, INT_MAX)]
    assert MODE.descriptor().additional_constraints == "one of fast, slow"


def test_a_plants_parameters_are_declared_under_their_prefix():
    declared = {each.name: each for each in of_plant(QuarterCar)}
    spring = declared[f"{PLANT}spring_stiffness"]
    assert (spring.default, spring.unit, spring.low) == (16e3, "N/m", 0.0)
    assert len(declared) == len(QuarterCar.declarations.parameters)
