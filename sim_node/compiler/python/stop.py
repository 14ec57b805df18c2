"""A thread that stops itself under CPython, and which of the program's sites that was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import CodeType, TracebackType

from sim_node.compiler.ir.function import Site
from sim_node.errors import Location


class StopError(Exception):
    """The thread stops: the arguments are as of a site and of the error that compiled code leaves."""

    def __init__(self, kind: str, subject: str, index: int = 0, length: int = 0) -> None:
        self.kind, self.subject, self.index, self.length = kind, subject, index, length
        super().__init__(kind)


# file, line and column of a place, the innermost first; None where Python does not know the column
Chain = list[tuple[str, int, int | None]]


def chain(trace: TracebackType | None, codes: Iterable[CodeType]) -> Chain:
    """List where the kernel's own functions were when an exception was raised, the innermost first."""
    known, places = set(codes), []
    while trace is not None:
        code = trace.tb_frame.f_code
        if code in known:
            places.append((code.co_filename, trace.tb_lineno, _column(code, trace.tb_lasti)))
        trace = trace.tb_next
    return places[::-1]


def _column(code: CodeType, instruction: int) -> int | None:
    positions = getattr(code, "co_positions", None)  # since Python 3.11
    if positions is None:
        return None
    column: int | None = [*positions()][instruction // 2][2]
    return column


def site_of(stop: StopError, places: Chain, sites: Sequence[Site]) -> int:
    """Find the number of the site that a thread stopped at. Raises LookupError where the program has none such."""
    at_place = [n for n, site in enumerate(sites) if _same(site.kind, stop.kind) and _is_at(site.location, places)]
    exact = [n for n in at_place if sites[n].subject == stop.subject]
    if not at_place:
        raise LookupError(f"no site of kind '{stop.kind}' at {places[0] if places else 'no place'}")
    return (exact or at_place)[0]


def _same(compiled: str, stopped: str) -> bool:
    """Whether a site is of the kind: of an assert that compares, what it compares is known to the compiler only."""
    return compiled == stopped or (stopped == "assert" and compiled.startswith("assert "))


def _is_at(location: Location | None, places: Chain) -> bool:
    for file, line, column in places:
        if location is None or (location.file, location.line) != (file, line):
            return False
        if column is not None and _bytes_before(location) != column:
            return False
        location = location.caller
    return location is None


def _bytes_before(location: Location) -> int:
    """A location counts characters, and CPython bytes."""
    return location.column if location.text.isascii() else len(location.text[: location.column].encode())
