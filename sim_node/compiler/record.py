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
        return {"digest": self.digest, "dims": self.dims, "written": sorted(self.written), "sites": sites}


def record(found: Any, functions: Sequence[FunctionType]) -> Record:
    """Read what ``Record.as_json`` gave, for the same functions wherever they stand now.

    Raises RecordError for anything else.
    """
    try:
        digest, dims, written, sites = found["digest"], found["dims"], found["written"], found["sites"]
        strings = all(isinstance(text, str) for text in (digest, *written, *(s for site in sites for s in site[:2])))
        if not strings or not isinstance(dims, int) or not 0 <= dims <= 4:
            raise RecordError("a value in it has the wrong type")
        places = _Places(functions)
        made = tuple(Site(kind, subject, places.found(place)) for kind, subject, place in sites)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as fault:
        raise RecordError(f"it is not a record of a kernel: {fault}") from fault
    return Record(digest, made, frozenset(written), dims)


class _Places:
    """Places as they are kept: the number of the function or the file in the library, line, column, and the caller."""

    def __init__(self, functions: Sequence[FunctionType]) -> None:
        self._codes = [function.__code__ for function in functions]
        self._lines: dict[str, list[str]] = {}
        self._spots: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for number, code in enumerate(self._codes):
            self._spots.setdefault((code.co_filename, code.co_name), []).append((code.co_firstlineno, number))

    def kept(self, location: Location | None) -> list[Any] | None:
        if location is None:
            return None
        caller = self.kept(location.caller)
        path = Path(location.file)
        if path.is_relative_to(_LIBRARY):
            where = [str(path.relative_to(_LIBRARY)), location.line, location.column, location.inside]
            return [*where, caller]
        above = [spot for spot in self._spots.get((location.file, location.inside), ()) if spot[0] <= location.line]
        if not above:
            raise RecordError(f"{location} is in no function that the kernel is made of")
        first, number = max(above)
        return [number, location.line - first, location.column, caller]

    def found(self, place: Any) -> Location | None:
        if place is None:
            return None
        home, line, column, *inside, caller = place
        if not isinstance(line, int) or not isinstance(column, int):
            raise RecordError("a place in it has no line")
        if isinstance(home, str):
            (name,) = inside
            file = f"{_LIBRARY}/{home}"
        else:
            if home < 0:
                raise RecordError("a place in it is in no function")
            code = self._codes[home]
            file, line, name = code.co_filename, line + code.co_firstlineno, code.co_name
        lines = self._lines.get(file)
        if lines is None:
            lines = self._lines[file] = linecache.getlines(file)
        text = lines[line - 1].rstrip("\n") if 0 < line <= len(lines) else ""
        return Location(file, line, column, text, name, self.found(caller))
