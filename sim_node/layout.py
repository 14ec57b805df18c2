"""Names, types, shapes and offsets of fields in a block of memory, with a digest that two processes can compare."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sim_node import dtypes

ALIGNMENT = 64  # a cache line, and the widest vector load
FORMAT = 1
MAX_AXES = 32  # more than numpy takes is damage


@dataclass(frozen=True, slots=True)
class Field:
    """One named array in a layout: ``shape`` counts elements, ``offset`` is in bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    unit: str = ""

    @property
    def element(self) -> dtypes.Scalar | dtypes.Composite:
        """The element type."""
        return dtypes.named(self.dtype)

    @property
    def count(self) -> int:
        """Elements in the field."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes the field occupies."""
        return self.count * self.element.size

    @property
    def numpy_shape(self) -> tuple[int, ...]:
        """The shape of the numpy view: vectors add a last axis."""
        element = self.element
        return (*self.shape, *element.shape)

    def view(self, memory: Any) -> np.ndarray[Any, Any]:
        """View the field in a buffer that starts where the layout starts; no copy."""
        flat = np.frombuffer(memory, self.element.numpy, self.count * self.element.length, self.offset)
        return flat.reshape(self.numpy_shape)


@dataclass(frozen=True, slots=True)
class Layout:
    """An ordered set of fields; ``size`` is in bytes and a multiple of the alignment."""

    fields: tuple[Field, ...]
    size: int

    @staticmethod
    def of(fields: Iterable[tuple[str, dtypes.Element, tuple[int, ...], str]]) -> Layout:
        """Lay fields (name, element, shape, unit) out in order, each aligned to a cache line."""
        placed, offset = [], 0
        for name, element, shape, unit in fields:
            field = Field(name, element.name, tuple(int(n) for n in shape), offset, unit)
            placed.append(field)
            offset = -(-(offset + field.nbytes) // ALIGNMENT) * ALIGNMENT
        return Layout(tuple(placed), offset)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical text, in hex: equal digests mean equal memory."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def text(self) -> str:
        """The canonical JSON text."""
        body = {"format": FORMAT, "size": self.size, "fields": [asdict(field) for field in self.fields]}
        return json.dumps(body, sort_keys=True, separators=(",", ":"))

    @staticmethod
    def parse(text: str) -> Layout:
        """Read the JSON text back, checking that every field lies inside the layout.

        Raises ValueError naming the fault: text from another process is not trusted.
        """
        try:
            body = json.loads(text)
        except RecursionError:
            raise ValueError("the layout's text is nested too deeply") from None
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise ValueError(f"not a layout of format {FORMAT}")
        size, fields = body.get("size"), []
        if not isinstance(size, int) or size < 0:
            raise ValueError("layout size is not a length")
        for raw in body.get("fields", ()):
            field = Field(str(raw["name"]), str(raw["dtype"]), tuple(raw["shape"]), raw["offset"], str(raw["unit"]))
            try:
                dtypes.named(field.dtype)
            except KeyError:
                raise ValueError(f"field '{field.name}' has unknown dtype '{field.dtype}'") from None
            extents = (field.offset, *field.shape)
            if not all(type(n) is int and 0 <= n < 2**63 for n in extents) or len(field.shape) > MAX_AXES:
                raise ValueError(f"field '{field.name}' has an impossible offset or shape")
            if math.prod(n or 1 for n in field.shape) * field.element.size >= 2**63:  # also where an axis is empty
                raise ValueError(f"field '{field.name}' has a shape that no array can have")
            if field.offset % ALIGNMENT or field.offset + field.nbytes > size:
                raise ValueError(f"field '{field.name}' does not lie inside the layout's {size} bytes")
            fields.append(field)
        return Layout(tuple(fields), size)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __getitem__(self, name: str) -> Field:
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"no field '{name}'; there are {', '.join(f.name for f in self.fields) or 'none'}")
