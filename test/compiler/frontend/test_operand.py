"""Literals and the types that can hold them."""

import math

import pytest

from sim_node.compiler.frontend.operand import Literal, default_type, number, spelled, unfit
from sim_node.dtypes import ArrayType, bool_, float32, float64, int32, int64, uint32, uint64, vec3


@pytest.mark.parametrize(
    ("value", "scalar", "reason"),
    [
        (2**31 - 1, int32, ""), (2**31, int32, "i32 ends at 2147483647"), (-(2**31) - 1, int32, "ends at -2147483648"),
        (-1, uint32, "u32 ends at 0"), (2**64 - 1, uint64, ""), (2**63, int64, "i64 ends at 9223372036854775807"),
        (1.0, int32, "it is a float"), (True, int32, "a bool is no number"), (1, bool_, "a number is no bool"),
        (True, bool_, ""), (0.1, float32, ""), (2**24, float32, ""),
        (2**24 + 1, float32, "the nearest f32 is 16777216"),
        (2**53 + 1, float64, "the nearest f64"), (1e39, float32, "f32 ends at 3.40282e+38"),
        (10**400, float64, "f64 ends"),
        (1e-60, float32, "it would become 0"), (1e-45, float32, ""), (math.inf, float32, ""), (math.nan, float64, ""),
        (-0.0, float32, ""), (0, float64, ""),
    ],
)  # fmt: skip
def test_fit(value, scalar, reason):
    got = unfit(Literal(value), scalar)
    assert reason in got
    assert bool(reason) == bool(got)


def test_numbers_are_rounded_once():
    assert number(Literal(0.1), float32) == 0.10000000149011612
    assert number(Literal(0.1), float64) == 0.1
    assert type(number(Literal(3), float64)) is float
    assert type(number(Literal(3), int64)) is int


def test_defaults():
    assert default_type(Literal(1)) is int32
    assert default_type(Literal(1), Literal(2.0)) is float32
    assert default_type(Literal(True)) is bool_
    assert default_type(Literal(True), Literal(1)) is int32


def test_spelling():
    assert [spelled(t) for t in (bool_, float32, vec3, ArrayType(vec3), None)] == [
        "bool", "sn.float32", "sn.vec3f", "sn.array(dtype=sn.vec3f)", "None",
    ]  # fmt: skip
