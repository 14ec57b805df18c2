"""What a proof leaves open for the launch to decide: conditions on what is known before a thread runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sim_node.compiler.analysis.polynomial import Polynomial

MOST = 4  # alternatives of one condition; more cost a launch time and are hardly ever the ones that hold


@dataclass(frozen=True, slots=True)
class AtMost:
    """A polynomial of parameters, extents and coordinates of the thread is at most 0."""

    polynomial: Polynomial


@dataclass(frozen=True, slots=True)
class Holds:
    """A truth value of parameters and extents, by its number, is as said."""

    value: int
    truth: bool


@dataclass(frozen=True, slots=True)
class All:
    """Every one of them; of none, always."""

    parts: tuple[Premise, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """At least one of them; of none, never."""

    parts: tuple[Premise, ...] = ()


Premise = AtMost | Holds | All | Either
ALWAYS, NEVER = All(), Either()


def both(parts: Iterable[Premise]) -> Premise:
    """All of them, stopping at the first that never holds."""
    found: dict[Premise, None] = {}
    for part in parts:
        if part == NEVER:
            return NEVER
        found.update(dict.fromkeys(part.parts if isinstance(part, All) else (part,)))
    return next(iter(found)) if len(found) == 1 else All(tuple(found))


def either(parts: Iterable[Premise]) -> Premise:
    """One of them, stopping at the first that always holds."""
    found: dict[Premise, None] = {}
    for part in parts:
        if part == ALWAYS:
            return ALWAYS
        found.update(dict.fromkeys(part.parts if isinstance(part, Either) else (part,)))
        if len(found) >= MOST:
            break
    kept = tuple(found)[:MOST]
    return kept[0] if len(kept) == 1 else Either(kept)
