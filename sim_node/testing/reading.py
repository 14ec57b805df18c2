"""What conditions and controllers see of the plant after a tick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Reading:
    """The plant after the last tick: ``t["speed"]`` is a state, output or input, a number where it is a single one.

    Attributes: ``read``, what was asked for, by name.
    """

    __slots__ = ("_dt_ns", "_read_one", "read", "step")

    def __init__(self, read: Callable[[str], np.ndarray[Any, Any]], step: int, dt_ns: int) -> None:
        self._read_one, self.step, self._dt_ns = read, step, dt_ns
        self.read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.read:
            self.read[name] = self._read_one(name)[()]
        return self.read[name]

    @property
    def time(self) -> float:
        """Simulated seconds since reset."""
        return self.step * self._dt_ns * 1e-9
