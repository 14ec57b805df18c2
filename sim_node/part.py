"""A field of a layout, or a part of it, as users name it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.errors.suggestion import suggestion
from sim_node.layout import Field

_TEXT = re.compile(r"\s*(\w+(?:\.\w+)*)\s*(?:\[(.*)\])?\s*")
_SLICE = re.compile(r"\s*(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(-?\d+)?\s*)?")

Index = tuple[int | slice, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Numbers of a field: all, as ``x``, or those of numpy's indices and slices, as ``x[0]`` and ``x[:, 2]``.

    Vectors are the field's last axis, as in its numpy view. ``shape`` is of the numbers.
    """

    text: str
    field: Field
    index: Index
    shape: tuple[int, ...]

    @staticmethod
    def parse(text: str, fields: Iterable[Field], kind: str = "published field") -> Part:
        """Find what a text names among the fields, all of that kind. Raises ValueError saying why it names none."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no field, nor a part of one such as x[0] or x[:, 2]")
        named = {field.name: field for field in fields}
        name, inside = found.groups()
        if name not in named:
            raise ValueError(f"no {kind} '{name}'{suggestion(name, named)}")
        field, index = named[name], _index(text, inside)
        try:
            # One byte stands for all the numbers, however many there are.
            shape = np.broadcast_to(np.empty((), np.uint8), field.numpy_shape)[index].shape
        except (IndexError, ValueError) as fault:
            raise ValueError(f"'{text}': {told(field)} has no such part: {fault}") from None
        if 0 in shape:
            raise ValueError(f"'{text}' has no elements: {told(field)}")
        return Part(text, field, index, shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.field.element.numpy

    @property
    def whole(self) -> bool:
        """Whether these are all numbers of the field."""
        return not self.index

    def of(self, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """View the part of the field's values."""
        index: tuple[Any, ...] = (*self.index, ...)  # with the dots also one number is a view
        part: np.ndarray[Any, Any] = values[index]
        return part

    def __str__(self) -> str:
        part = "" if self.whole else f", of which '{self.text}' is {self.dtype} of shape {list(self.shape)}"
        return f"{told(self.field)}{part}"


def told(field: Field) -> str:
    """Name a field with its type and shape."""
    return f"field '{field.name}' ({field.dtype} of shape {list(field.shape)})"


def _index(text: str, inside: str | None) -> Index:
    if inside is None:
        return ()
    return tuple(_axis(text, part) for part in inside.split(","))


def _axis(text: str, written: str) -> int | slice:
    if re.fullmatch(r"\s*-?\d+\s*", written):
        return int(written)
    found = _SLICE.fullmatch(written)
    if found is None:
        raise ValueError(f"'{text}': '{written.strip()}' is neither an index nor a slice such as 0:3")
    return slice(*(None if end is None else int(end) for end in found.groups()))
