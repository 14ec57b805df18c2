import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node.errors import WireError
from sim_node.layout import Layout
from sim_node.wires.end import End
from sim_node.wires.wiring import Wire

LAYOUT = Layout.of(
    [("force", dtypes.vec3, (2,), "N"), ("one", dtypes.float64, (1,), ""), ("mode", dtypes.int8, (), "")]
)


def end(text, factor=1.0, offset=0.0):
    return End(Wire("can.yaml: here", "Signal", text, factor, offset), LAYOUT, "input")


@given(st.floats(-1e6, 1e6), st.floats(0.01, 100), st.floats(-100, 100))
def test_what_is_written_reads_back(value, factor, offset):
    values = np.zeros(1)
    one = end("one", factor, offset)
    assert one.write(values, value) is False
    assert one.read(values) == pytest.approx(value, rel=1e-9, abs=1e-6)


def test_it_is_one_element_of_many():
    values = np.zeros((2, 3), np.float32)
    force = end("force[1,2]", 2.0)
    force.write(values, 5.0)
    assert values.tolist() == [[0, 0, 0], [0, 0, 2.5]]
    assert force.read(values) == 5.0
    force.clear(values)
    assert not values.any()


@pytest.mark.parametrize(("value", "held", "saturated"), [(2.6, 3, False), (200.0, 127, True), (-1e9, -128, True)])
def test_an_integer_takes_what_it_can_hold(value, held, saturated):
    values = np.zeros((), np.int8)
    assert end("mode").write(values, value) is saturated
    assert values == held


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("forc", "can.yaml: here: no input 'forc'; did you mean 'force'?"),
        (
            "force[1]",
            "a signal carries one number, and 'force[1]' is 3 of field 'force' (vec3f of shape [2]); write force[0]",
        ),
        ("force[2,0]", "can.yaml: here: 'force[2,0]': field 'force' (vec3f of shape [2]) has no such part"),
    ],
)
def test_what_it_does_not_name(text, said):
    with pytest.raises(WireError) as told:
        end(text)
    assert said in str(told.value)
