import numpy as np
import pytest

from sim_node import dtypes
from sim_node.layout import Layout
from sim_node.part import Part, told

LAYOUT = Layout.of(
    [("x", dtypes.named("vec3f"), (4,), "m"), ("level", dtypes.float64, (), ""), ("none", dtypes.float64, (0,), "")]
)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x", (4, 3)),
        (" x ", (4, 3)),
        ("x[0]", (3,)),
        ("x[-1, 2]", ()),
        ("x[:, 2]", (4,)),
        ("x[1:3]", (2, 3)),
        ("x[::2, :2]", (2, 2)),
        ("level", ()),
    ],
)
def test_a_part_is_what_numpy_makes_of_its_text(text, shape):
    part = Part.parse(text, LAYOUT)
    values = np.arange(part.field.count * part.field.element.length).reshape(part.field.numpy_shape)
    assert part.shape == part.of(values).shape == shape
    assert np.array_equal(part.of(values), eval(text, {"x": values, "level": values}))
    assert np.shares_memory(part.of(values), values)
    assert part.whole == ("[" not in text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("y", "no published field 'y'; there are x, level, none"),
        ("lebel", "no published field 'lebel'; did you mean 'level'?"),
        ("x[4]", r"'x\[4\]': field 'x' \(vec3f of shape \[4\]\) has no such part: index 4 is out of bounds"),
        ("x[0, 0, 0]", "too many indices"),
        ("level[0]", "too many indices"),
        ("x[::0]", "slice step cannot be zero"),
        ("x[]", "'' is neither an index nor a slice"),
        ("x[y]", "'y' is neither an index nor a slice"),
        ("x[2:2]", r"'x\[2:2\]' has no elements"),
        ("none", "'none' has no elements"),
        ("x + 1", "is no field, nor a part of one"),
    ],
)
def test_a_text_that_names_nothing_is_refused(text, why):
    with pytest.raises(ValueError, match=why):
        Part.parse(text, LAYOUT)


def test_a_part_says_what_it_is_of():
    assert told(LAYOUT["x"]) == "field 'x' (vec3f of shape [4])"
    assert str(Part.parse("x", LAYOUT)) == told(LAYOUT["x"])
    assert str(Part.parse("x[0]", LAYOUT)) == f"{told(LAYOUT['x'])}, of which 'x[0]' is float32 of shape [3]"
