"""How ``sim-node top`` draws gauges on a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sim_node.cli.gauges import Gauge

KEYS = "q quit   n next   p pause, resume   s step   r reset"
BLOCKS = " ▁▂▃▄▅▆▇█"
DECADES = range(2, 9)  # of nanoseconds: 100 ns … 1 s
FINE = 4  # bars a decade


def draw(gauges: Sequence[Gauge], chosen: int, told: str) -> Any:
    """Draw all plants in a table, the chosen one in detail, and what was told last; returns rich's renderable."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = [_plants(gauges, chosen)]
    if gauges:
        parts += _detail(gauges[chosen])
    else:
        parts.append(Text("There is no ring of this user on this host: start a plant, as 'sim-node run quarter_car'."))
    return Group(*parts, Text(told, style="yellow"), Text(KEYS, style="dim"))


def _plants(gauges: Sequence[Gauge], chosen: int) -> Any:
    table = _table("plants", "", "plant", "state", "clock", "rate, Hz", "real time ×", "step", "slots", "leases", "pid")
    table.columns[1].no_wrap = True  # what a narrow terminal leaves of it is the last to go
    for number, each in enumerate(gauges):
        ring = each.ring
        rate = "" if each.rate is None else f"{each.rate:.0f}"
        factor = "" if each.factor is None else f"{each.factor:.3f}"
        cells = (ring.name, each.state, each.clock, rate, factor, ring.step, ring.slots, ring.leases, ring.owner_pid)
        _row(table, "▶" if number == chosen else "", *cells)
    return table


def _detail(gauge: Gauge) -> list[Any]:
    from rich.text import Text

    ring, parts = gauge.ring, []
    if ring.problem:
        parts.append(Text(ring.problem))
    if gauge.counters:
        parts.append(Text("   ".join(f"{name} {count}" for name, count in gauge.counters.items())))
    elif not ring.problem:
        parts.append(
            Text(f"dropped {ring.dropped}   (misses and histograms are told by ROS, and nothing came from there)")
        )
    if gauge.histograms:
        ends = f"{'100 ns':<{3 * FINE}}{'100 µs':<{3 * FINE}}{'100 ms':<{FINE}}"
        table = _table("histograms", "quantity", "p50", "p99", "max", ends)
        for name, told in gauge.histograms.items():
            is_time = told["unit"] == "ns"
            shown = [_time(told[key]) if is_time else f"{told[key]} ticks" for key in ("p50", "p99", "max")]
            _row(table, name, *shown, bars(told["edges"], told["counts"]) if is_time else "")
        parts.append(table)
    if ring.readers:
        table = _table("readers", "pid", "alive", "leases", "step", "taken", "skipped", "lost", "revoked")
        for reader in ring.readers:
            _row(table, *(getattr(reader, name) for name in table_names(table)))
        parts.append(table)
    writers = [(each.name, writer) for each in ring.inputs for writer in each.writers]
    if writers:
        table = _table("writers", "input", "name", "pid", "alive", "priority", "sent", "applied", "in_charge")
        for name, writer in writers:
            _row(table, name, *(getattr(writer, each) for each in table_names(table)[1:]))
        parts.append(table)
    return parts


def bars(edges: Sequence[int], counts: Sequence[int]) -> str:
    """Draw buckets of nanoseconds over decades; what lies outside stands at the ends, and the highest bar is full."""
    heights = [0] * (len(DECADES) - 1) * FINE
    for edge, count in zip(edges, counts):
        at = int((math.log10(max(edge, 1)) - DECADES[0]) * FINE)
        heights[min(max(at, 0), len(heights) - 1)] += count
    most = max(heights, default=0) or 1
    return "".join(BLOCKS[math.ceil(height / most * (len(BLOCKS) - 1))] for height in heights)


def table_names(table: Any) -> list[str]:
    """The titles of a table's columns."""
    return [str(column.header) for column in table.columns]


def _time(ns: int) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns} ns"


def _table(title: str, *columns: str) -> Any:
    from rich import box
    from rich.table import Table

    return Table(*columns, title=title, title_justify="left", box=box.SIMPLE)


def _row(table: Any, *cells: Any) -> None:
    from rich.text import Text

    table.add_row(*(Text("" if cell is None else str(cell)) for cell in cells))
