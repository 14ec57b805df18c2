"""The faults of a plant that is stepped, as rows of its hidden input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion
from sim_node.layout import Field
from sim_node.plant.fault import KINDS, Fault
from sim_node.plant.faultable import TABLE
from sim_node.plant.injection import COLUMNS
from sim_node.plant.plant import Plant


class FaultTable:
    """The faults of a plant, in the order in which they are applied to a variable.

    A plant takes them by ``Stepper.set(TABLE, table.rows())``. Attributes: ``faults``.
    """

    def __init__(self, plant: Plant, dt_ns: int) -> None:
        self._plant, self._dt_ns = plant, dt_ns
        self._fields: dict[str, Field] = {each.name: each for each in (*plant.input_layout, *plant.state_layout)}
        self.faults: list[Fault] = []

    def inject(self, asked: Mapping[str, Any], step: int) -> Fault:
        """Add a fault, given as ``Fault.of`` takes it with its ``variable``, at step ``step``; those that ended go.

        Raises PlantError where the plant, or what was made of it, cannot have it.
        """
        name = str(asked.get("variable", ""))
        delays = self._delays(name)
        if name not in delays:
            raise PlantError(f"fault of '{name}': it may have none{suggestion(name, delays)}")
        fault = Fault.of(asked, self._fields[name], self._dt_ns, step)
        if fault.kind == "delay" and fault.value > delays[name]:
            raise PlantError(
                f"fault of '{name}': a delay of {fault.value:g} ticks is more than the {delays[name]} that it was "
                f"built for; allow '{name}:{fault.value:g}'"
            )
        standing = [each for each in self.faults if each.last > step]
        most = self._plant.input_layout[TABLE].shape[0]
        if len(standing) >= most:
            raise PlantError(f"fault of '{name}': there are {most} faults already; clear some, or allow more: rows=N")
        self.faults = [*standing, fault]
        return fault

    def clear(self, variable: str = "") -> int:
        """Take away the faults of a variable, or all; returns how many.

        Raises PlantError for a variable that has none ever.
        """
        if variable and variable not in (delays := self._delays(variable)):
            raise PlantError(f"no faults of '{variable}'{suggestion(variable, delays)}")
        kept = [each for each in self.faults if variable and each.variable != variable]
        cleared, self.faults = len(self.faults) - len(kept), kept
        return cleared

    def _delays(self, name: str) -> Mapping[str, int]:
        """The variables that may have faults, with the longest delay of each."""
        if not self._plant.faultable:
            raise PlantError(
                f"fault of '{name}': {type(self._plant).__name__} was built without faults; allow those of '{name}' "
                "when it is built"
            )
        return self._plant.faultable

    def active(self, step: int) -> list[Fault]:
        """The faults that tick ``step`` has."""
        return [fault for fault in self.faults if fault.is_active(step)]

    def rows(self) -> np.ndarray[Any, Any]:
        """The table as the plant's input takes it, f64 (rows, columns)."""
        names = list(self._plant.faultable)
        table = np.zeros((self._plant.input_layout[TABLE].shape[0], COLUMNS))
        for row, each in zip(table, self.faults):
            kind = KINDS.index(each.kind) + 1
            row[:] = names.index(each.variable), kind, each.element, each.first, each.last, each.value, each.seed
        return table
