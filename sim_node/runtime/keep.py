"""What keeps the arrays that structs in an array's memory refer to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Keep:
    """One for all arrays over a memory, so that what a part is given lives as long as the whole."""

    __slots__ = ("_fields", "_others")

    def __init__(self) -> None:
        self._fields: dict[int, dict[str, Any]] = {}
        self._others: list[Any] = []

    def of(self, address: int) -> dict[str, Any]:
        """Give what the fields of the element at an address of the array's device refer to, to be changed in place."""
        return self._fields.setdefault(address, {})

    def add(self, kept: Iterable[Any]) -> None:
        """Keep something of elements that are not told apart."""
        self._others.extend(kept)

    def all(self) -> list[Any]:
        """List what keeps everything that is referred to now, for a copy of the elements."""
        return [*self._others, *(dict(fields) for fields in self._fields.values())]
