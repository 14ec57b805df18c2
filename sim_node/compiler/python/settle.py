"""Values of the language under CPython: numbers without a type take one, and composite values are copied."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from sim_node.dtypes import PYTHON, Scalar, Vector, numeric
from sim_node.lang.values.value import Value, type_of

WEAK = (bool, int, float)


def settle(value: Any, type_: Any) -> Any:
    """Give a value to a variable, parameter or result of a type: a Python number takes it, a composite is copied.

    Raises AssertionError where the value has another type than the compiler found.
    """
    kind = type(value)
    if kind in WEAK:
        return value if type_ is None else scalar_of(value, type_)
    if isinstance(value, Value):
        assert type_ is None or type_of(value) == type_, f"{type_of(value)!r} under CPython, compiled {type_!r}"
        return copy.copy(value)
    if isinstance(value, np.generic):
        assert type_ is None or value.dtype == type_.numpy, f"{value.dtype} under CPython, compiled {type_!r}"
        return value
    if kind is tuple:
        parts = type_ if isinstance(type_, tuple) else getattr(type_, "items", None)
        return tuple(map(settle, value, parts or [None] * len(value)))
    return value


def scalar_of(value: Any, type_: Any) -> Any:
    """Give a Python number a type."""
    assert isinstance(type_, Scalar), f"the number {value!r} under CPython, compiled {type_!r}"
    return type_.numpy.type(value)


def unpack(value: Any, types: tuple[Any, ...]) -> list[Any]:
    """Take a tuple or vector apart for several targets, whose types are given (None: not a variable)."""
    parts = [*value]
    assert len(parts) == len(types)
    return [settle(part, type_) for part, type_ in zip(parts, types)]


def agreed(*values: Any) -> tuple[Any, ...]:
    """Give Python numbers among the values the type that the others have; all of them stay as they are if none has."""
    for typed in values:
        if isinstance(typed, np.generic):
            return tuple(typed.dtype.type(value) if type(value) in WEAK else value for value in values)
    return values


def defaulted(*values: Any) -> tuple[Any, ...]:
    """Give the values one type: that of those which have one, else that of numbers which meet nothing."""
    values = agreed(*values)
    kinds = {type(value) for value in values}
    if not kinds <= {*WEAK}:
        return values
    scalar = PYTHON[float] if float in kinds else PYTHON[bool] if kinds == {bool} else PYTHON[int]
    return tuple(scalar.numpy.type(value) for value in values)


def captured(thing: Any) -> Any:
    """Give what a kernel captures as the language has it: exact Python numbers, and vectors of numpy's."""
    if isinstance(thing, tuple):
        return tuple(map(captured, thing))
    if isinstance(thing, np.ndarray) and thing.ndim == 1 and thing.dtype.kind in "iuf" and 2 <= len(thing) <= 4:
        return Vector(numeric(thing.dtype).scalar, len(thing))(*thing)
    if isinstance(thing, np.generic):
        return thing
    for kind in WEAK:
        if isinstance(thing, kind):
            return kind(thing)
    return thing


def plain(value: Any) -> Any:
    """Give a variable's value as the build knows it, which has numbers without a type."""
    return value.item() if isinstance(value, np.generic) else value
