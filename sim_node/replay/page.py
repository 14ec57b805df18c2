"""One self-contained HTML page: tables, words and plots, which open anywhere and fetch nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

GOOD, BAD, NEUTRAL = "good", "bad", "neutral"

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff; max-width: 1100px; margin: 2em auto;
       padding: 0 1.2em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; margin: .6em 0; } caption { text-align: left; font-weight: 600; }
th, td { border: 1px solid #d5dce4; padding: .3em .7em; text-align: left; vertical-align: top;
         overflow-wrap: anywhere; }
th { background: #f2f5f8; font-weight: 600; white-space: nowrap; }
pre { background: #f2f5f8; padding: .8em; overflow-x: auto; }
.badge { display: inline-block; white-space: nowrap; padding: 0 .6em; border-radius: .3em; color: #fff;
         font-weight: 600; }
.good { background: #19753c; } .bad { background: #b3261e; } .neutral { background: #5b6773; }
"""


@dataclass(frozen=True, slots=True)
class Badge:
    """A word on a coloured ground; ``kind`` is GOOD, BAD or NEUTRAL."""

    word: str
    kind: str


@dataclass(frozen=True, slots=True)
class Link:
    """A word that leads to another page, named relative to this one."""

    word: str
    to: str


class Page:
    """A page, filled from top to bottom."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._parts: list[str] = []
        self._has_plots = False
        self._parts.append(f"<h1>{escape(title)}</h1>")

    def heading(self, text: str) -> None:
        """Begin a section."""
        self._parts.append(f"<h2>{escape(text)}</h2>")

    def paragraph(self, *cells: Any) -> None:
        """Add words, badges and links in a line."""
        self._parts.append(f"<p>{' '.join(_cell(cell) for cell in cells)}</p>")

    def quote(self, text: str) -> None:
        """Add text as it is, in a fixed width."""
        self._parts.append(f"<pre>{escape(text)}</pre>")

    def facts(self, rows: Mapping[str, Any]) -> None:
        """Add a table of names and values."""
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{_cell(value)}</td></tr>" for name, value in rows.items())
        self._parts.append(f"<table>{cells}</table>")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table with a head."""
        head = "".join(f"<th>{escape(column)}</th>" for column in columns)
        body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
        self._parts.append(f"<table><tr>{head}</tr>{body}</table>")

    def plot(self, figure: Any) -> None:
        """Add one of plotly's figures; its library lies in the page, once."""
        settings = {"displaylogo": False, "responsive": True}
        drawn = figure.to_html(full_html=False, include_plotlyjs=not self._has_plots, config=settings)
        self._parts.append(drawn)
        self._has_plots = True

    def write(self, to: Path) -> Path:
        """Write the page and return its path."""
        to.parent.mkdir(parents=True, exist_ok=True)
        head = f'<meta charset="utf-8"><title>{escape(self._title)}</title><style>{_STYLE}</style>'
        body = "\n".join(self._parts)
        to.write_text(f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n', "utf-8")
        return to


def _cell(value: Any) -> str:
    if isinstance(value, Badge):
        return f'<span class="badge {value.kind}">{escape(value.word)}</span>'
    if isinstance(value, Link):
        return f'<a href="{escape(value.to, quote=True)}">{escape(value.word)}</a>'
    if isinstance(value, (list, tuple)):
        return "<br>".join(_cell(each) for each in value)
    return "" if value is None else escape(str(value))
