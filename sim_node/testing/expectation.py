"""What is expected of a plant's variable in a run: limits, in a span of simulated time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.errors import PlantError
from sim_node.layout import Field
from sim_node.part import Part
from sim_node.replay.history import History

ALWAYS, ONCE, AT_END = WHEN = ("always", "once", "at_end")


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether an expectation was met, and in words what there was."""

    name: str
    passed: bool
    told: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """That all numbers of ``field``, a variable or a part of one, are in ``low … high``, both included.

    They are to be so in the ticks that end later than ``after`` and no later than ``until``, seconds of simulated time:
    'always', at least 'once', or in the last of these ticks, 'at_end'. NaN is in no range.
    """

    name: str
    field: str
    low: float = -math.inf
    high: float = math.inf
    after: float = 0.0
    until: float = math.inf
    when: str = ALWAYS

    def part(self, fields: Iterable[Field]) -> Part:
        """Find what it is about. Raises PlantError where the plant has no such thing."""
        try:
            return Part.parse(self.field, fields, "input, state or output")
        except ValueError as fault:
            raise PlantError(str(fault)) from None

    def judge(self, over: History, fields: Iterable[Field]) -> Finding:
        """Compare it with a run. Raises PlantError as ``part``."""
        part = self.part(fields)
        near = 1e-9 * max(over.seconds[-1], 1.0) if len(over.seconds) else 0.0  # what rounding does to seconds
        chosen = (over.seconds > self.after + near) & (over.seconds <= self.until + near)
        seconds = over.seconds[chosen]
        if not len(seconds):
            return Finding(self.name, False, f"no tick ends in its span, {self.after:g} to {self.until:g} s")
        rows = np.array([part.of(row) for row in over.values[part.field.name][chosen]]).reshape(len(seconds), -1)
        if self.when == AT_END:
            seconds, rows = seconds[-1:], rows[-1:]
        numbers = rows.astype(np.float64)
        good = ((numbers >= self.low) & (numbers <= self.high)).all(axis=1)
        passed = bool(good.any() if self.when == ONCE else good.all())
        unit = f" {part.field.unit}" if part.field.unit else ""
        span = _span(numbers, unit)
        if passed and self.when == ONCE:
            return Finding(self.name, True, f"{self.field} so from {seconds[good.argmax()]:.6g} s on")
        if passed or self.when == ONCE:
            return Finding(self.name, passed, f"{self.field} {span}{'' if passed else f', never in {self.range}'}")
        first = int((~good).argmax())
        wrong = numbers[first][~((numbers[first] >= self.low) & (numbers[first] <= self.high))][0]
        told = f"{self.field} = {wrong:.6g}{unit} at {seconds[first]:.6g} s, not in {self.range}; in all {span}"
        return Finding(self.name, False, told)

    @property
    def range(self) -> str:
        """Its limits in words."""
        return f"{self.low:g} … {self.high:g}"


def _span(numbers: np.ndarray[Any, Any], unit: str) -> str:
    finite = numbers[~np.isnan(numbers)]
    if not finite.size:
        return "NaN throughout"
    nan = ", with NaN" if finite.size < numbers.size else ""
    return f"from {finite.min():.6g} to {finite.max():.6g}{unit}{nan}"
