"""Annotations that take any scalar of a kind: ``sn.Int``, ``sn.Float`` and ``sn.Scalar``."""

from __future__ import annotations

from dataclasses import dataclass

from sim_node import dtypes


@dataclass(frozen=True, slots=True)
class Kinds:
    """Some scalar type whose kind is among the letters (of ``dtypes.Kind``); the caller's argument says which."""

    name: str
    letters: str

    def takes(self, given: object) -> bool:
        """Whether a type is one of these."""
        return isinstance(given, dtypes.Scalar) and given.kind.value in self.letters

    def __repr__(self) -> str:
        return self.name


Int = Kinds("Int", "iu")
Float = Kinds("Float", "f")
Scalar = Kinds("Scalar", "iuf")
