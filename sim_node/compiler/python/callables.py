"""What kernels call that is no func: conversions, constructors, builtins and a few functions of Python's own."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from sim_node import dtypes
from sim_node.compiler.frontend.capture import FACTORIES
from sim_node.compiler.python.arrays import Array
from sim_node.compiler.python.operations import count
from sim_node.compiler.python.places import length
from sim_node.compiler.python.settle import WEAK, agreed, defaulted
from sim_node.lang.builtins import Builtin, cast, printf, vector
from sim_node.lang.formats import escaped, formatted, joined, printed
from sim_node.lang.hosted import type_of

running = threading.local()  # ``thread``: the coordinates of the thread that runs


def callee(thing: Any) -> Any:
    """Give what a call of the thing does."""
    thing = next((builtin for factory, builtin in FACTORIES if factory is thing), thing)
    if isinstance(thing, Builtin):
        return _OWN.get(thing.name) or _builtin(thing)
    for python, ours in _PYTHON:
        if thing is python:
            return ours
    return thing


def _builtin(builtin: Builtin) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        args = agreed(*args)
        return builtin.host(*args, **named) if named else builtin(*args)

    return call


def _tid() -> Any:
    coordinates = running.thread
    return coordinates[0] if len(coordinates) == 1 else coordinates


def _cast(value: Any, target: Any) -> Any:
    (value,) = defaulted(value)
    return cast.host(value, dtypes.element(target))


def _vector(*parts: Any, **named: Any) -> Any:
    return vector.host(*defaulted(*parts), **named)


def _type(value: Any) -> Any:
    (value,) = defaulted(value)
    if isinstance(value, Array):
        return dtypes.ArrayType(value.dtype, value.ndim)
    return value._type if hasattr(value, "_type") else dtypes.element(value.dtype)


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(*agreed(*values))


def _abs(value: Any) -> Any:
    return abs(value) if type(value) in WEAK else np.abs(value)


def _print(*values: Any, sep: str = " ", end: str = "\n") -> None:
    forms, numbers = list[str](), list[Any]()
    for form, parts in map(_printed, values):
        forms.append(form)
        numbers += parts
    sys.stdout.write(formatted(joined(forms, sep, end), numbers))


def _printed(value: Any) -> tuple[str, list[Any]]:
    """The format of one value, and its numbers."""
    if isinstance(value, str):
        return escaped(value), []
    if isinstance(value, tuple):
        parts = [_printed(part) for part in value]
        return f"({', '.join(form for form, _ in parts)})", [number for _, numbers in parts for number in numbers]
    (value,) = defaulted(value)
    kind = type_of(value)
    if isinstance(kind, dtypes.Scalar):
        return printed(kind), [bool(value) if kind is dtypes.bool_ else value]
    return printed(kind), np.asarray(value).ravel().tolist() if isinstance(kind, dtypes.Composite) else []


# Builtins by their name, where the host's way differs.
_OWN: dict[str, Callable[..., Any]] = {
    "tid": _tid,
    "cast": _cast,
    "vector": _vector,
    "print": _print,
    "printf": printf.host,
}
_PYTHON: tuple[tuple[object, Callable[..., Any]], ...] = (
    (len, length),
    (range, count),
    (type, _type),
    (type_of, _type),
    (abs, _abs),
    (print, _print),
    (min, _extreme(min)),
    (max, _extreme(max)),
    *dtypes.PYTHON.items(),
)
