"""What annotations mean: a type of the kernel language, one with parts left open, or anything."""

from __future__ import annotations

import enum
from collections.abc import Callable as AbstractCallable
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any, get_args, get_origin

from sim_node import dtypes
from sim_node.dtypes import ArrayType, Type, is_class
from sim_node.lang.kinds import Kinds


def evaluated(written: object, function: FunctionType) -> object:
    """Evaluate an annotation that is text, and text inside of text, with the names around its function.

    Raises whatever the text raises.
    """
    closure: dict[str, object] = {}
    if isinstance(written, str):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                closure[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
    while isinstance(written, str):
        written = eval(written, function.__globals__, closure)
    return written


def annotation(written: object) -> Type | str:
    """Resolve what was written as a type, whose parts may be ``Any``, or as ``Any`` itself; words that say why not.

    Python's and numpy's types, and enumerations of integers, mean the types of the language that hold their values.
    """
    if written is Any or written is AbstractCallable or get_origin(written) is AbstractCallable:
        return Any  # type: ignore[return-value]
    if isinstance(written, Kinds):
        return written  # type: ignore[return-value]
    if isinstance(written, ArrayType):
        inside = annotation(written.dtype)
        if isinstance(inside, str):
            return f"an array of what is no dtype: {inside}"
        return written
    if get_origin(written) is tuple:
        return _tuple(get_args(written))
    if is_class(written) and issubclass(written, enum.IntEnum | enum.IntFlag):
        return dtypes.int32
    try:
        return dtypes.element(written)
    except TypeError:
        name = getattr(written, "__name__", repr(written))
        return f"'{name}' is not a type of the kernel language"


def _tuple(written: tuple[object, ...]) -> Type | str:
    """A tuple of types; of one type and ``...`` for any number of it."""
    items = [item if item is ... else annotation(item) for item in written]
    faults = [item for item in items if isinstance(item, str)]
    return faults[0] if faults else tuple(items)  # type: ignore[return-value]


def is_open(kind: object) -> bool:
    """Whether a type has parts that are left open."""
    if isinstance(kind, tuple):
        return any(is_open(part) for part in kind)
    if isinstance(kind, Kinds):
        return True
    if is_dataclass(kind) and not isinstance(kind, type):
        return any(is_open(getattr(kind, field.name)) for field in fields(kind))
    return kind is Any or kind is ...


def openness(kind: object) -> int:
    """How much a type leaves open: nothing, some of it, all."""
    return 2 if kind is Any else int(is_open(kind))


def matches(wanted: object, given: object) -> bool:
    """Whether a type is one that an annotation stands for: equal but for what is left open, and how an array lies."""
    if wanted is Any or wanted == given:
        return True
    if isinstance(wanted, Kinds):
        return wanted.takes(given)
    if isinstance(wanted, tuple) and isinstance(given, tuple):
        if len(wanted) == 2 and wanted[1] is ...:
            return all(matches(wanted[0], part) for part in given)
        return len(wanted) == len(given) and all(map(matches, wanted, given))
    if not is_dataclass(wanted) or isinstance(wanted, type) or type(wanted) is not type(given):
        return False
    parts = (field.name for field in fields(wanted) if field.name != "layout")
    return all(matches(getattr(wanted, name), getattr(given, name)) for name in parts)
