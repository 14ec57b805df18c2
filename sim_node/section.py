"""A mapping of a YAML file, read key by key: what is missing, unknown or of another kind is told with its place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from sim_node.errors import SimNodeError
from sim_node.errors.suggestion import suggestion


class Section:
    """The keys below one place of a file; what is wrong there is an ``error``.

    Attributes: ``place``, such as ``can.yaml: send.Wheels``; ``values``.
    """

    def __init__(self, place: str, values: object, error: type[SimNodeError], keys: Sequence[str] = ()) -> None:
        """Take the mapping there; ``keys`` are those that it may have, by default any."""
        self.place, self._error = place, error
        if not isinstance(values, dict):
            raise self.fault(f"here stands {values!r}, not a mapping of keys to values")
        self.values = {str(key): value for key, value in values.items()}
        for key in self.values:
            if keys and key not in keys:
                raise self.fault(f"there is no '{key}' here{suggestion(key, keys)}")

    @staticmethod
    def of_file(path: Path, error: type[SimNodeError], keys: Sequence[str]) -> Section:
        """Read a file, which is a mapping in YAML."""
        try:
            values = YAML(typ="safe").load(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, YAMLError) as fault:
            raise error(f"{path}: cannot be read: {' '.join(str(fault).split())}") from fault
        return Section(str(path), values, error, keys)

    def fault(self, why: str, key: str = "") -> SimNodeError:
        """Make the error of this place, or of one key of it."""
        return self._error(f"{self._at(key)}: {why}")

    def section(self, key: str, keys: Sequence[str] = ()) -> Section:
        """Take the mapping below a key; one that is not there is empty."""
        return Section(self._at(key), self.values.get(key, {}), self._error, keys)

    def sections(self, keys: Sequence[str]) -> Iterator[tuple[str, Section]]:
        """Take the mapping below each key."""
        for key in self.values:
            yield key, self.section(key, keys)

    def rows(self, key: str, keys: Sequence[str] = ()) -> Iterator[Section]:
        """Take the mappings of the list below a key; one that is not there is empty."""
        values = self.values.get(key, [])
        if not isinstance(values, list):
            raise self.fault(f"a list stands here, not {values!r}", key)
        for number, row in enumerate(values):
            yield Section(f"{self._at(key)}[{number}]", row, self._error, keys)

    def text(self, key: str, default: str | None = None, choices: Sequence[str] = ()) -> str:
        """Take a text; an error when it is none, not one of the choices, or missing without a default."""
        value = self._of(key, default)
        if not isinstance(value, str) or not value:
            raise self.fault(f"a text stands here, not {value!r}", key)
        if choices and value not in choices:
            raise self.fault(f"one of {', '.join(choices)} stands here, not '{value}'", key)
        return value

    def number(self, key: str, default: float | None = None, low: float = -math.inf) -> float:
        """Take a finite number of at least ``low``; YAML reads 1e-3 as text, which is one here."""
        value = self._of(key, default)
        number = math.nan
        if isinstance(value, (int, float, str)) and not isinstance(value, bool):
            with suppress(ValueError):
                number = float(value)
        if not math.isfinite(number) or number < low:
            least = "" if low == -math.inf else f" of at least {low:g}"
            raise self.fault(f"a number{least} stands here, not {value!r}", key)
        return number

    def _of(self, key: str, default: Any) -> Any:
        value = self.values.get(key, default)
        if value is None:
            raise self.fault(f"'{key}' is missing")
        return value

    def _at(self, key: str) -> str:
        return self.place + (f"{'.' if ': ' in self.place else ': '}{key}" if key else "")
