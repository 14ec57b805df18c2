"""The plant's end of a wire: one number of an output or input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sim_node.errors import WireError
from sim_node.layout import Layout
from sim_node.part import Part, told
from sim_node.wires.wiring import Wire


class End:
    """One number among the fields of a layout, which are of that kind. Attributes: ``wire``, ``field`` (its name).

    Raises WireError with the wire's place where it names nothing, or more than one number.
    """

    def __init__(self, wire: Wire, layout: Layout, kind: str) -> None:
        self.wire = wire
        try:
            self._part = Part.parse(wire.text, layout, kind)
        except ValueError as fault:
            raise WireError(f"{wire.place}: {fault}") from None
        if math.prod(self._part.shape) != 1:
            raise WireError(
                f"{wire.place}: a signal carries one number, and '{wire.text}' is {math.prod(self._part.shape)} of "
                f"{told(self._part.field)}; write {wire.text.partition('[')[0]}[0] for the first"
            )
        self.field = self._part.field.name

    def read(self, values: np.ndarray[Any, Any]) -> float:
        """Read the signal's physical value off the field's values."""
        return float(self._part.of(values).reshape(())[()]) * self.wire.factor + self.wire.offset

    def write(self, values: np.ndarray[Any, Any], physical: float) -> bool:
        """Set the number that a signal's physical value means; says whether the field's type had to saturate it."""
        value, dtype = (physical - self.wire.offset) / self.wire.factor, self._part.dtype
        saturated = False
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            whole = round(value)
            value = min(max(whole, limits.min), limits.max)
            saturated = value != whole
        self._part.of(values)[...] = value
        return saturated

    def clear(self, values: np.ndarray[Any, Any], value: float = 0.0) -> None:
        """Set the number itself."""
        self._part.of(values)[...] = value
