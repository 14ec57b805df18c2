"""What is kept of a built kernel beside its object, so that the next process need not lower it.

A place in an author's function is kept as its line from the function's first: comments above it, and where the file
is, change nothing. One in the language's library is kept by its file there.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

from sim_node import lang
from sim_node.compiler.ir.function import Site
from sim_node.errors import Location

_LIBRARY = Path(str(lang.__file__)).parent


class RecordError(ValueError):
    """What was kept is not a record, or of other functions."""


@dataclass(frozen=True, slots=True)
class Record:
    """``digest`` is of the IR, ``sites`` what its errors index; ``written`` and ``dims`` as of ``Program``."""

    digest: str
    sites: tuple[Site, ...]
    written: frozenset[str]
    dims: int

    def as_json(self, functions: Sequence[FunctionType]) -> dict[str, Any]:
        """Give what JSON holds; ``functions`` are those that the kernel may be made of, it the first.

        Raises RecordError for a place that is in none of them.
        """
        places = _Places(functions)
        sites = [[site.kind, site.subject, places.kept(site.location)] for site in self.sites]
        told = {"digest": self.digest, "dims": self.dims, "written": sorted(self.written)}
        return {**told, "places": places.rows, "sites": sites}


def record(found: Any, functions: Sequence[FunctionType]) -> Record:
    """Read what ``Record.as_json`` gave, for the same functions wherever they stand now.

    Raises RecordError for anything else.
    """
    try:
        digest, dims, written, sites = found["digest"], found["dims"], found["written"], found["sites"]
        said = {type(text) for text in (digest, *written, *(word for site in sites for word in site[:2]))}
        if said != {str} or not isinstance(dims, int) or not 0 <= dims <= 4:
            raise RecordError("a value in it has the wrong type")
        places = _found(found["places"], functions)
        made = tuple([Site(kind, subject, places[place]) for kind, subject, place in sites])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as fault:
        raise RecordError(f"it is not a record of a kernel: {fault}") from fault
    return Record(digest, made, frozenset(written), dims)


class _Places:
    """Places as they are kept, each once: where, line, column, function, and the row of its caller.

    Where is the number of an author's function, or a file of the library. Row -1 is of no place.
    """

    def __init__(self, functions: Sequence[FunctionType]) -> None:
        self.rows: list[list[Any]] = []
        self._known: dict[Location, int] = {}
        self._spots: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for number, function in enumerate(functions):
            code = function.__code__
            self._spots.setdefault((code.co_filename, code.co_name), []).append((code.co_firstlineno, number))

    def kept(self, location: Location | None) -> int:
        """Give the row of a place, -1 for none; raises RecordError for one in no function."""
        if location is None:
            return -1
        known = self._known.get(location)
        if known is None:
            row = [*self._where(location), self.kept(location.caller)]
            known = self._known[location] = len(self.rows)
            self.rows.append(row)
        return known

    def _where(self, location: Location) -> list[Any]:
        path = Path(location.file)
        if path.is_relative_to(_LIBRARY):
            return [str(path.relative_to(_LIBRARY)), location.line, location.column, location.inside]
        above = [spot for spot in self._spots.get((location.file, location.inside), ()) if spot[0] <= location.line]
        if not above:
            raise RecordError(f"{location} is in no function that the kernel is made of")
        first, number = max(above)
        return [number, location.line - first, location.column, location.inside]


def _found(rows: Any, functions: Sequence[FunctionType]) -> list[Location | None]:
    """Read what ``_Places`` kept; row -1 is no place."""
    made: list[Location | None] = []
    texts: dict[str, list[str]] = {}
    for home, line, column, inside, caller in rows:
        if not (type(line) is type(column) is type(caller) is int and isinstance(inside, str)):
            raise RecordError("a place in it has no line")
        if isinstance(home, str):
            file = f"{_LIBRARY}/{home}"
        elif home < 0:
            raise RecordError("a place in it is in no function")
        else:
            code = functions[home].__code__
            file, line = code.co_filename, line + code.co_firstlineno
        text = texts.get(file)
        if text is None:
            text = texts[file] = linecache.getlines(file)
        said = text[line - 1].rstrip("\n") if 0 < line <= len(text) else ""
        made.append(Location(file, line, column, said, inside, made[caller] if caller >= 0 else None))
    made.append(None)
    return made
