import numpy as np
import pytest

from sim_node import dtypes
from sim_node.errors import PlantError
from sim_node.layout import Layout
from sim_node.plant.value import array_of, pack, rows_of, unpack

LAYOUT = Layout.of([("wind", dtypes.vec3, (2,), "m/s"), ("gear", dtypes.int32, (), ""), ("on", dtypes.bool_, (3,), "")])


def test_values_fill_their_field():
    packed = pack(LAYOUT, {"wind": (1, 2.5, 3), "gear": 4, "on": True})
    assert len(packed) == LAYOUT.size
    assert LAYOUT["wind"].view(packed).tolist() == [[1.0, 2.5, 3.0]] * 2
    assert LAYOUT["gear"].view(packed) == 4
    assert LAYOUT["on"].view(packed).tolist() == [True] * 3


def test_bits_are_kept():
    odd = np.array([[0xFFC12345, 0x80000000, 1]] * 2, np.uint32).view(np.float32)
    assert array_of(LAYOUT["wind"], odd).tobytes() == odd.tobytes()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("gear", 1.0, r"'gear' takes i32 of shape \(\), not 1.0: float64 would lose digits"),
        ("gear", 2**31, "'gear' takes i32 .*not in -2147483648 … 2147483647"),
        ("gear", [1, 2], r"'gear' takes i32 of shape \(\), not \[1, 2\]"),
        ("wind", 1e39, "'wind' takes vec3f .*overflow"),
        ("wind", [1, 2], r"'wind' takes vec3f of shape \(2, 3\)"),
        ("wind", np.zeros((4, 3)), r"not an array of shape \(4, 3\)"),
        ("on", 1, "'on' takes bool"),
        ("on", None, "'on' takes bool"),
    ],
)
def test_values_that_do_not_fit(name, value, message):
    with pytest.raises(PlantError, match=message):
        array_of(LAYOUT[name], value)


def test_a_value_is_unpacked_and_rows_are_viewed():
    packed = pack(LAYOUT, {"wind": (1, 2.5, 3), "gear": 4, "on": True})
    wind = LAYOUT["wind"]
    assert unpack(wind, packed, wind.offset).tolist() == [[1.0, 2.5, 3.0]] * 2
    rows = rows_of(LAYOUT["gear"], np.arange(5, dtype=np.int32).tobytes(), 5)
    assert rows.tolist() == [0, 1, 2, 3, 4]
