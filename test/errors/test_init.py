from __future__ import annotations

import re

import pytest

import sim_node as sn
from sim_node.errors import (
    BuildAttributeError,
    BuildError,
    BuildNameError,
    BuildTypeError,
    BuildValueError,
    KernelError,
    Location,
    placed,
)

PLACE = Location("plant.py", 7, 8, "    x = y + z")


def test_a_location_prints_as_editors_read_it() -> None:
    assert str(PLACE) == "plant.py:7:9"


def test_the_caret_stands_under_the_column() -> None:
    line, caret = PLACE.excerpt().splitlines()
    assert line[caret.index("^")] == "y"


@pytest.mark.parametrize("text", ["", "   "])
def test_no_source_no_caret(text: str) -> None:
    assert Location("plant.py", 7, 8, text).excerpt() == ""


def test_a_tab_is_one_column() -> None:
    line, caret = Location("plant.py", 7, 1, "\ty = 1").excerpt().splitlines()
    assert line[caret.index("^")] == "y"


def test_the_chain_of_calls_is_shown_from_the_inside_out() -> None:
    outer = Location("plant.py", 30, 0, "step(x)")
    middle = Location("plant.py", 20, 4, "    inner(x)", inside="step", caller=outer)
    shown = Location("plant.py", 10, 0, "", inside="inner", caller=middle).excerpt()
    assert shown.splitlines() == ["  called from step at plant.py:20:5", "  called from <module> at plant.py:30:1"]


def test_a_build_error_says_where_what_and_what_instead() -> None:
    lines = str(BuildError("'z' is unknown", PLACE, "assign z first")).splitlines()
    assert lines[0] == "plant.py:7:9: 'z' is unknown"
    assert lines[-1] == "  instead: assign z first"
    assert str(BuildError("no source")) == "no source"


def test_families_are_caught_as_python_names_them() -> None:
    with pytest.raises(TypeError):
        raise BuildTypeError("types")
    with pytest.raises(NameError, match="name"):
        raise BuildNameError("name")
    with pytest.raises(AttributeError):
        raise BuildAttributeError("attribute")
    with pytest.raises(ValueError, match="value"):
        raise BuildValueError("value")


def test_a_kernel_error_names_kernel_thread_and_launch() -> None:
    text = str(KernelError("index 9 is out of bounds", PLACE, "step", 3, launch="run.py:5"))
    assert text.startswith("plant.py:7:9: index 9 is out of bounds in kernel 'step', thread 3")
    assert text.endswith("launched at run.py:5")


def test_an_exception_is_placed_in_one_line():
    with pytest.raises(TypeError) as caught:
        raise TypeError("two\nlines")
    assert re.fullmatch(r"TypeError: two lines \(.*test_init\.py:\d+\)", placed(caught.value))
    assert placed(KeyError()) == "KeyError"


def test_code_that_catches_warps_errors_catches_ours() -> None:
    assert issubclass(BuildError, RuntimeError)
    assert issubclass(KernelError, RuntimeError)
    assert issubclass(BuildTypeError, TypeError)
    assert issubclass(BuildNameError, KeyError)
    assert str(BuildNameError("name")) == "name"
    assert sn.WarpCodegenError is BuildError
    assert sn.WarpCodegenValueError is BuildValueError
