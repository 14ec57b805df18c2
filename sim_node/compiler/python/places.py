"""Reading and writing subscripts and attributes under CPython, each index checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sim_node.compiler.python.arrays import Array, array_at, checked
from sim_node.dtypes import ArrayType, Struct
from sim_node.lang.values.value import Value, memory_of, type_of, viewed


def at(base: Any, key: Any, subject: str) -> Any:
    """Read ``base[key]`` as a value of its own."""
    if isinstance(base, Array):
        return base.load(key, subject)
    if isinstance(base, Value):
        return base[_checked(base, key, subject)]  # type: ignore[index]
    return base[key if isinstance(key, slice) else int(key)]


def inside(base: Any, key: Any, subject: str) -> Any:
    """Show the part ``base[key]``, which is about to be changed, so that writing there changes the whole."""
    if isinstance(base, Array):
        return base.place(key, subject)
    part = memory_of(base)[_checked(base, key, subject)]
    return viewed(base._type.vector(len(part)), part)


def put(value: Any, base: Any, key: Any, subject: str) -> None:
    """Write ``base[key] = value``."""
    if isinstance(base, Array):
        base.store(key, value, subject)
    else:
        base[_checked(base, key, subject)] = value


def _checked(base: Value, key: Any, subject: str) -> Any:
    lengths = memory_of(base).shape
    if isinstance(key, tuple):
        return tuple(checked(one, length, subject) for one, length in zip(key, lengths))
    return checked(key, lengths[0], subject)


def attribute(base: Any, name: str) -> Any:
    """Read ``base.name``; an array in a struct is known by its descriptor."""
    if isinstance(base, Value) and isinstance(type_of(base), Struct):
        kind = type_of(base).place(name)[1]
        if isinstance(kind, ArrayType):
            return array_at(memory_of(base)[name].ctypes.data, kind)
    return getattr(base, name)


class Place:
    """A subscript or attribute that is read, computed with and written again: found once, read at once."""

    def __init__(self, base: Any, key: Any, subject: str | None) -> None:
        self.base, self.key, self.subject = base, key, subject
        self.before = attribute(base, key) if subject is None else at(base, key, subject)

    def apply(self, operate: Callable[..., Any], value: Any, *text: str) -> None:
        """Write what the operation gives for what was there and the value."""
        result = operate(self.before, value, *text)
        if self.subject is None:
            setattr(self.base, self.key, result)
        else:
            put(result, self.base, self.key, self.subject)


def length(thing: Any) -> Any:
    """``len``: of an array an i32, of a tuple or vector a number that has no type."""
    return np.int32(len(thing)) if isinstance(thing, Array) else len(thing)
