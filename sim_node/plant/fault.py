"""A fault that is asked for: what happens to which variable, and when."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion
from sim_node.layout import Field

# What may happen to a value, in the order of their codes in the table, from 1 on: the word that asks for it.
KINDS = ("stuck_at", "offset", "gain", "noise", "delay", "drop", "nan", "flip_bit")
ALWAYS = 2**53 - 1  # the last tick of a fault that goes on: the largest count that the table holds exactly
_TIMES = ("after", "until", "first_tick", "last_tick")
_OTHERS = ("variable", "element", "seed")


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one variable in the ticks ``first … last``, numbered as steps are.

    ``kind`` is one of ``KINDS``; ``value`` is what it takes: the value that is seen, what is added, the factor, the
    standard deviation, the ticks of delay, the probability that a tick's value is lost, or the number of a bit.
    ``element`` counts the variable's numbers in C order; -1 means all of them.
    """

    variable: str
    kind: str
    value: float
    element: int = -1
    first: int = 1
    last: int = ALWAYS
    seed: int = 0

    @staticmethod
    def of(asked: Mapping[str, Any], field: Field, dt_ns: int, step: int = 0) -> Fault:
        """Make a fault of words, as files, services and tests give them.

        One of ``KINDS`` with its value (``delay`` in seconds, ``nan`` is true); ``element``, an index or a sequence of
        one an axis; ``after`` and ``until`` in seconds of simulated time, or ``first_tick`` and ``last_tick``;
        ``seed``. It begins after tick ``step`` where nothing else is said. Raises PlantError saying what is accepted.
        """
        name = field.name
        kinds = [word for word in asked if word in KINDS]
        for word in asked:
            if word not in (*KINDS, *_TIMES, *_OTHERS):
                raise PlantError(f"fault of '{name}': no '{word}'{suggestion(word, (*KINDS, *_TIMES, *_OTHERS))}")
        if len(kinds) != 1:
            raise PlantError(
                f"fault of '{name}': {' and '.join(kinds) or 'nothing'} is asked for; ask for one of {', '.join(KINDS)}"
            )
        kind = kinds[0]
        if kind == "nan" and asked[kind] is not True:
            raise PlantError(f"fault of '{name}': nan is asked for by true, not {asked[kind]!r}")
        value = math.nan if kind == "nan" else _number(name, kind, asked[kind])
        if kind == "delay":
            value = _ticks(name, kind, value, dt_ns)
        first, last = _span(asked, name, dt_ns, step)
        fault = Fault(name, kind, value, _element(field, asked.get("element")), first, last,
                      _count(name, "seed", asked.get("seed", 0), 2**32 - 1))  # fmt: skip
        fault.check(field)
        return fault

    def check(self, field: Field) -> None:
        """Raise PlantError where a variable cannot have this fault."""
        scalar, where = field.element.scalar, f"fault of '{self.variable}'"
        if self.kind == "nan" and not scalar.is_float:
            raise PlantError(f"{where}: nan is for floats, and this is {field.element!r}; ask for stuck_at")
        if self.kind == "flip_bit" and not (self.value.is_integer() and 0 <= self.value < scalar.bits):
            raise PlantError(f"{where}: {scalar!r} has the bits 0 … {scalar.bits - 1}, and no {self.value:g}")
        if scalar.name == "bool" and self.kind in ("offset", "gain", "noise"):
            raise PlantError(f"{where}: a bool has no {self.kind}; ask for stuck_at, drop, delay or flip_bit")
        if self.kind == "drop" and not 0 <= self.value <= 1:
            raise PlantError(f"{where}: drop is a probability in 0 … 1, not {self.value:g}")
        if self.kind == "noise" and self.value < 0:
            raise PlantError(f"{where}: noise is a standard deviation of at least 0, not {self.value:g}")
        if self.kind == "stuck_at" and not scalar.is_float:
            low, high = (0, 1) if scalar.name == "bool" else _limits(scalar.numpy)
            if not (self.value.is_integer() and low <= self.value <= high):
                raise PlantError(f"{where}: {scalar!r} cannot be stuck at {self.value:g}; it holds {low} … {high}")

    def is_active(self, step: int) -> bool:
        """Tell whether tick ``step`` has it."""
        return self.first <= step <= self.last

    def __str__(self) -> str:
        value = "" if self.kind == "nan" else f" {self.value:g}{' ticks' if self.kind == 'delay' else ''}"
        where = self.variable if self.element < 0 else f"{self.variable}[{self.element}]"
        until = "" if self.last == ALWAYS else f" to {self.last}"
        return f"{where} {self.kind}{value} from tick {self.first}{until}"


def _limits(kind: np.dtype[Any]) -> tuple[int, int]:
    """What an integer type and a float64 both hold exactly."""
    info = np.iinfo(kind)
    return max(int(info.min), -ALWAYS), min(int(info.max), ALWAYS)


def _number(name: str, what: str, given: Any) -> float:
    if isinstance(given, (bool, np.bool_)) and what == "stuck_at":
        return float(given)
    if isinstance(given, (bool, np.bool_)) or not isinstance(given, (int, float, np.integer, np.floating)):
        raise PlantError(f"fault of '{name}': {what} takes a number, not {given!r}")
    if not math.isfinite(given) and what != "stuck_at":
        raise PlantError(f"fault of '{name}': {what} takes a finite number, not {given!r}")
    return float(given)


def _count(name: str, what: str, given: Any, most: int) -> int:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not 0 <= given <= most:
        raise PlantError(f"fault of '{name}': {what} is a whole number in 0 … {most}, not {given!r}")
    return int(given)


def _ticks(name: str, what: str, seconds: float, dt_ns: int) -> int:
    """How many ticks have ended after so many seconds; one that is meant is not missed by rounding."""
    ticks = seconds * 1e9 / dt_ns
    if not 0 <= ticks < ALWAYS:
        raise PlantError(f"fault of '{name}': {what} is a time of at least 0 s, not {seconds:g} s")
    return round(ticks) if abs(ticks - round(ticks)) < 1e-6 else math.floor(ticks)


def _span(asked: Mapping[str, Any], name: str, dt_ns: int, step: int) -> tuple[int, int]:
    """First and last tick."""
    for seconds, tick in (("after", "first_tick"), ("until", "last_tick")):
        if seconds in asked and tick in asked:
            raise PlantError(f"fault of '{name}': {seconds} and {tick} say the same; give one of them")
    first, last = step + 1, ALWAYS
    if "after" in asked:
        first = _ticks(name, "after", _number(name, "after", asked["after"]), dt_ns) + 1
    if "until" in asked:
        last = _ticks(name, "until", _number(name, "until", asked["until"]), dt_ns)
    first = _count(name, "first_tick", asked.get("first_tick", first), ALWAYS)
    last = _count(name, "last_tick", asked.get("last_tick", last), ALWAYS)
    if last < first:
        raise PlantError(f"fault of '{name}': it would end with tick {last}, before its first, {first}")
    return first, last


def _element(field: Field, given: Any) -> int:
    """The number of an element, or of one component of a vector, in C order."""
    if given is None:
        return -1
    shape, index = field.numpy_shape, tuple(given) if isinstance(given, (list, tuple)) else (given,)
    total = math.prod(shape)
    if len(index) == 1 and len(shape) != 1:
        shape = (total,)
    whole = all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in index)
    if len(index) != len(shape) or not whole or not all(0 <= each < extent for each, extent in zip(index, shape)):
        raise PlantError(
            f"fault of '{field.name}': element {given!r} is none of shape {list(field.numpy_shape)}; give an index an "
            "axis, or one in C order"
        )
    return int(np.ravel_multi_index(index, shape))
