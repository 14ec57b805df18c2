"""Annotations: what they mean, what they leave open, and what they match."""

import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sim_node import dtypes
from sim_node.dtypes import ArrayType
from sim_node.lang.annotation import annotation, evaluated, is_open, matches


class Mode(enum.IntEnum):
    FAST = 7


class Flags(enum.IntFlag):
    A = 1


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        (float, dtypes.float32), (int, dtypes.int32), (bool, dtypes.bool_), (np.float64, dtypes.float64),
        (Mode, dtypes.int32), (Flags, dtypes.int32), (dtypes.vec3d, dtypes.vec3d), (Any, Any), (Callable, Any),
        (Callable[[int], int], Any), (ArrayType(dtypes.vec3), ArrayType(dtypes.vec3)), (ArrayType(Any), ArrayType(Any)),
    ],
)  # fmt: skip
def test_meaning(written, kind):
    assert annotation(written) == kind


@pytest.mark.parametrize("written", [str, 3, list[float], enum.IntEnum("E", []), ArrayType(str)])
def test_what_is_no_type(written):
    kind = annotation(written)
    assert kind == dtypes.int32 if isinstance(written, enum.EnumMeta) else "type" in kind


@pytest.mark.parametrize(
    ("wanted", "given", "fits"),
    [
        (Any, dtypes.int32, True),
        (ArrayType(Any), ArrayType(dtypes.vec3), True),
        (ArrayType(Any), ArrayType(dtypes.vec3, 2), False),
        (ArrayType(dtypes.int32), ArrayType(dtypes.vec3), False),
        (dtypes.Vector(Any, 3), dtypes.vec3d, True),
        (dtypes.Vector(Any, 3), dtypes.vec2, False),
        (dtypes.Vector(dtypes.float32, Any), dtypes.vec2, True),
        (dtypes.float32, dtypes.float64, False),
        ((dtypes.int32, ...), (dtypes.int32,) * 3, True),
        ((dtypes.int32, ...), (dtypes.int32, dtypes.float32), False),
        ((Any, dtypes.int32), (dtypes.float32, dtypes.int32), True),
    ],
)
def test_matching(wanted, given, fits):
    assert matches(wanted, given) is fits
    assert not is_open(given)
    if fits and wanted != given:
        assert is_open(wanted)


def test_text_inside_text_with_the_names_of_a_closure():
    real = dtypes.float64

    def function(x: "'real'"):
        return real

    assert evaluated(function.__annotations__["x"], function) is dtypes.float64
