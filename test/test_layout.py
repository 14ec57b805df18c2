from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node.layout import ALIGNMENT, Layout

shapes = st.lists(st.integers(0, 5), max_size=3).map(tuple)
fields = st.lists(
    st.tuples(
        st.from_regex(r"[a-z]{1,8}", fullmatch=True),
        st.sampled_from([*dtypes.COMPOSITES.values()]),
        shapes,
        st.just("m"),
    ),
    max_size=6,
    unique_by=lambda field: field[0],
)
CAR = Layout.of([("position", dtypes.vec3, (4,), "m"), ("time", dtypes.float64, (), "s")])


@given(fields)
def test_fields_are_aligned_and_do_not_overlap(specs: list[tuple[str, dtypes.Element, tuple[int, ...], str]]) -> None:
    layout = Layout.of(specs)
    end = 0
    for field in layout:
        assert field.offset % ALIGNMENT == 0
        assert field.offset >= end
        end = field.offset + field.nbytes
    assert end <= layout.size
    assert layout.size % ALIGNMENT == 0


@given(fields)
def test_the_text_reads_back_the_same(specs: list[tuple[str, dtypes.Element, tuple[int, ...], str]]) -> None:
    layout = Layout.of(specs)
    again = Layout.parse(layout.text())
    assert again == layout
    assert again.digest == layout.digest


@given(fields)
def test_views_write_where_their_field_lies(specs: list[tuple[str, dtypes.Element, tuple[int, ...], str]]) -> None:
    layout = Layout.of(specs)
    memory = np.zeros(layout.size, np.uint8)
    for number, field in enumerate(layout, 1):
        view = field.view(memory)
        assert view.shape == field.numpy_shape
        view[...] = 1
        written = np.flatnonzero(memory)
        assert ((written >= field.offset) & (written < field.offset + field.nbytes)).all(), number
        view[...] = 0


def test_digests_differ_with_the_memory() -> None:
    same = [("position", dtypes.vec3, (4,), "m"), ("time", dtypes.float64, (), "s")]
    assert Layout.of(same).digest == CAR.digest
    assert Layout.of(same[::-1]).digest != CAR.digest
    assert Layout.of([("position", dtypes.vec3, (5,), "m"), same[1]]).digest != CAR.digest


def test_an_unknown_field_names_those_there_are() -> None:
    assert CAR["time"].count == 1
    with pytest.raises(KeyError, match="no field 'speed'; there are position, time"):
        CAR["speed"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "not a layout of format 1"),
        ({"size": -64}, "size is not a length"),
        ({"size": 64}, "does not lie inside"),
        ({"dtype": "f17"}, "unknown dtype 'f17'"),
        ({"offset": 8}, "does not lie inside"),
        ({"offset": -64}, "impossible offset"),
        ({"offset": True}, "impossible offset"),
        ({"shape": [1 << 40]}, "does not lie inside"),
        ({"shape": [0] * 33}, "impossible offset or shape"),
        ({"shape": [1 << 63]}, "impossible offset or shape"),
        ({"shape": [0, 1 << 62, 1 << 62]}, "a shape that no array can have"),
        ({"shape": [5, 5, 5]}, "does not lie inside"),
    ],
)
def test_a_forged_text_is_refused(change: dict[str, object], message: str) -> None:
    body = json.loads(CAR.text())
    for key, value in change.items():
        (body if key in body else body["fields"][0])[key] = value
    with pytest.raises(ValueError, match=message):
        Layout.parse(json.dumps(body))


def test_a_text_nested_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        Layout.parse("[" * 100_000)
