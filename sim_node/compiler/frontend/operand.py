"""What an expression stands for while a function is lowered, and the numbers among it that have no type yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sim_node.compiler.ir.function import Value
from sim_node.dtypes import SCALARS, ArrayType, Composite, Kind, Scalar, Type, bool_, float32, int32


@dataclass(frozen=True, slots=True)
class Literal:
    """A number that is known now and has no type yet: it takes that of what it meets (NEP 50), else i32 or f32."""

    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two such numbers, chosen when the kernel runs: it has no type yet either."""

    test: Value
    yes: Weak
    no: Weak


Weak = Literal | Choice


@dataclass(frozen=True, slots=True)
class Static:
    """Something that exists only now and not when the kernel runs: a module, a type, a func, a builtin."""

    value: object


# A tuple is what tuple syntax gives: it can be taken apart, and nothing else.
Operand = Value | Weak | Static | tuple["Operand", ...]

# How a type is spelled by someone who writes a conversion.
_LETTERS = {"i": "int", "u": "uint", "f": "float"}
SPELLED = {one.name: f"sn.{_LETTERS[one.kind.value]}{one.bits}" for one in SCALARS if one is not bool_}
SPELLED["bool"] = "bool"


def spelled(type: Type | None) -> str:
    """How to write the type in a kernel."""
    if isinstance(type, Scalar):
        return SPELLED[type.name]
    if isinstance(type, ArrayType):
        return f"sn.array(dtype={spelled(type.dtype)})"
    return f"sn.{type.name}" if isinstance(type, Composite) else "None" if type is None else type.name


def outcomes(weak: Weak) -> Iterator[Literal]:
    """Every number that it may be."""
    if isinstance(weak, Literal):
        yield weak
    else:
        yield from outcomes(weak.yes)
        yield from outcomes(weak.no)


def mapped(compute: Callable[..., Weak], *weak: Weak) -> Weak:
    """Compute with numbers that have no type, for every outcome."""
    for at, one in enumerate(weak):
        if isinstance(one, Choice):
            before, after = weak[:at], weak[at + 1 :]
            sides = (mapped(compute, *before, side, *after) for side in (one.yes, one.no))
            return Choice(one.test, *sides)
    return compute(*weak)


def default_type(*weak: Weak) -> Scalar:
    """The type of numbers that meet nothing: f32 if any is a float, bool if all are, else i32."""
    kinds = {type(literal.value) for one in weak for literal in outcomes(one)}
    return float32 if float in kinds else bool_ if kinds == {bool} else int32


def unfit(literal: Literal, scalar: Scalar) -> str:
    """Why the literal is no value of the type; empty if it is one, rounded where both are floats."""
    value = literal.value
    if isinstance(value, bool) != (scalar.kind is Kind.BOOL):
        return "a bool is no number" if isinstance(value, bool) else "a number is no bool"
    if scalar.is_integer:
        if isinstance(value, float):
            return "it is a float"
        low, high = (
            (0, 2**scalar.bits) if scalar.kind is Kind.UINT else (-(2 ** (scalar.bits - 1)), 2 ** (scalar.bits - 1))
        )
        return "" if low <= value < high else f"{scalar} ends at {high - 1 if value >= high else low}"
    if scalar.is_float:
        return _unfit_float(value, scalar)
    return ""


def _unfit_float(value: int | float, scalar: Scalar) -> str:
    try:
        with np.errstate(all="ignore"):
            near = float(scalar.numpy.type(value))
    except OverflowError:
        near = float("inf")
    if near in (float("inf"), float("-inf")) and value != near:
        return f"{scalar} ends at {float(np.finfo(scalar.numpy).max):g}"
    if isinstance(value, int) and int(near) != value:
        return f"the nearest {scalar} is {int(near)}"
    return f"it would become 0 in {scalar}" if near == 0.0 and value != 0 else ""


def number(literal: Literal, scalar: Scalar) -> bool | int | float:
    """The literal's value as the type holds it; it fits."""
    if scalar.is_float:
        return float(scalar.numpy.type(literal.value))
    return literal.value
