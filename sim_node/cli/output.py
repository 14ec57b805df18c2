"""How every command speaks: one JSON object or tables on stdout, everything else on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people; cells are shown with ``str``."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command hands back: the object that --json prints, the tables that people see, and the exit code.

    ``text`` is for people whose next command reads it. ``error`` is one line on stderr, and the key ``error``.
    """

    result: dict[str, Any]
    tables: Sequence[Table] = ()
    exit_code: int = 0
    error: str = ""
    warnings: Sequence[str] = ()
    text: str = ""


def plain(value: Any) -> Any:
    """Make a value JSON: numpy scalars become numbers, non-finite floats strings, tuples lists."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def show(outcome: Outcome, as_json: bool) -> int:
    """Print an outcome and return its exit code."""
    for warning in outcome.warnings:
        print(f"sim-node: warning: {warning}", file=sys.stderr)
    if outcome.error:
        print(f"sim-node: error: {outcome.error}", file=sys.stderr)
    if as_json:
        result = {**outcome.result, "error": outcome.error} if outcome.error else outcome.result
        print(json.dumps(plain(result), allow_nan=False), flush=True)
        return outcome.exit_code
    if outcome.text:
        print(outcome.text)
    if outcome.tables:
        _draw(outcome.tables)
    return outcome.exit_code


def _draw(tables: Sequence[Table]) -> None:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    console = Console() if sys.stdout.isatty() else Console(width=160, no_color=True)
    for table in tables:
        drawn = RichTable(title=table.title or None, title_justify="left")
        for column in table.columns:
            drawn.add_column(column, overflow="fold")
        for row in table.rows:
            drawn.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
        console.print(drawn)


@contextmanager
def progress(label: str) -> Iterator[Callable[[float, float, str], None]]:
    """Show a live line on stderr, if that is a terminal: call with what is done, the total (0: unknown) and a text."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as live:
        task = live.add_task(label, total=None, text="")

        def update(done: float, total: float, text: str) -> None:
            live.update(task, completed=done, total=total or None, text=text)

        yield update
