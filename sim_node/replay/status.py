"""The page of a finished run: what ran, how well it kept time, whether it replays, and plots; all out of its bag."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.errors import BagError, SimNodeError
from sim_node.layout import Field
from sim_node.plant import Keyframe
from sim_node.replay import history, messages, plot
from sim_node.replay.bag import Bag
from sim_node.replay.page import Page
from sim_node.replay.proof import VERDICTS, add_proof, computation, digest
from sim_node.replay.report import Report
from sim_node.replay.verify import namespace

PLOTTED = 256 << 20  # bytes of values that are computed again for plots
HISTOGRAMS = ("lateness", "step_time", "wake_to_commit", "answer_time", "command_age")


@dataclass
class Life:
    """One generation of a plant in a bag: its first keyframe, its ticks, and how well it kept time.

    ``stamps`` are those of the first record and the last (ns), each with its last step. ``stats`` is the last message
    that told of the clock.
    """

    name: str
    generation: int
    start: Keyframe | None = None
    ticks: int = 0
    last: int = 0
    unanswered: int = 0
    stats: Any = None
    stamps: list[tuple[int, int]] = field(default_factory=list)

    @property
    def factor(self) -> float | None:
        """Simulated by real time between the first and the last record; None where the bag does not tell."""
        if self.start is None or len(self.stamps) < 2:
            return None
        (begun, before), (ended, after) = self.stamps[0], self.stamps[-1]
        simulated = (after - before) * self.start.dt_ns
        is_offline = all(stamp == step * self.start.dt_ns for step, stamp in ((before, begun), (after, ended)))
        return None if is_offline or ended <= begun else simulated / (ended - begun)

    @property
    def counters(self) -> dict[str, int]:
        """What the clock counted; empty where the bag does not tell."""
        return {} if self.stats is None else dict(zip(self.stats.counters, map(int, self.stats.counted_since_start)))


def lives(path: Path) -> list[Life]:
    """Read through a bag. Raises BagError when it is none."""
    found: dict[tuple[str, int], Life] = {}
    for entry in Bag(path):
        if entry.type not in (messages.KEYFRAME, messages.RECORD, messages.STATS, messages.UNANSWERED):
            continue
        try:
            message = messages.deserialise(entry.raw, entry.type)
            key = namespace(entry.topic), int(message.generation)
            life = found.setdefault(key, Life(*key))
            if entry.type == messages.KEYFRAME:
                life.start = life.start or messages.keyframe_of(message)[0]
            elif entry.type == messages.STATS:
                life.stats = message
            elif entry.type == messages.UNANSWERED:
                life.unanswered += len(message.steps)
            else:
                life.ticks += int(message.count)
                life.last = int(message.first_step) + int(message.count) - 1
                life.stamps = [*life.stamps[:1], (entry.stamp_ns, life.last)]
        except BagError:
            continue  # verify tells of it
    return list(found.values())


def write(path: Path, report: Report, found: list[Life], to: Path) -> Path:
    """Write the page of a bag, of what verify reported and of its lives; returns its path."""
    page = Page(f"Run: {path.name}")
    page.paragraph(VERDICTS[report.exit_code], f"{report.ticks} ticks")
    page.facts({"bag": path, "SHA-256": digest(path)})
    page.heading("Replay")
    add_proof(page, report)
    for number, life in enumerate(found):
        page.heading(f"{life.name}, generation {life.generation}")
        if life.start is not None:
            page.facts(computation(life.start))
        _add_time(page, life)
        if number == 0:
            _add_plots(page, path, life)
    return page.write(to)


def _add_time(page: Page, life: Life) -> None:
    facts: dict[str, Any] = {"ticks": life.ticks}
    if life.start is not None:
        facts["simulated time"] = f"{life.last * life.start.dt_ns * 1e-9:g} s"
    facts["real-time factor"] = (
        "the bag does not tell: it was recorded offline" if life.factor is None else (f"{life.factor:.4g}")
    )
    facts["ticks without an answer"] = life.unanswered
    if life.stats is not None:
        facts["clock"] = life.stats.clock
        facts |= {name: count for name, count in life.counters.items() if name != "ticks"}
    page.facts(facts)
    if life.stats is None:
        return
    told = {each.name: each for each in life.stats.since_start if each.count}
    rows = [
        (each.name, each.unit, each.count, f"{each.mean:.0f}", each.p50, each.p99, each.p999, each.max)
        for each in told.values()
    ]
    page.table(("quantity", "unit", "count", "mean", "p50", "p99", "p99.9", "max"), rows)
    shown = {name: (np.asarray(told[name].edges), np.asarray(told[name].counts)) for name in HISTOGRAMS if name in told}
    if shown:
        page.plot(plot.bars(shown, "µs", 1e-3))


def _add_plots(page: Page, path: Path, life: Life) -> None:
    """Plot all that there is room for."""
    if life.start is None or not life.ticks:
        page.paragraph("No plots: there is no keyframe to start from, or no tick.")
        return
    fields, left = _fitting((*life.start.input_layout, *life.start.layout), life.ticks)
    try:
        over = history.of_bag(path, [each.name for each in fields])
    except SimNodeError as fault:
        page.paragraph(f"No plots: {str(fault).splitlines()[0]}")
        return
    if shown := plot.panels(over, fields):
        page.plot(plot.figure(shown))
    if left:
        page.paragraph(f"Too large to be plotted: {', '.join(left)}.")


def _fitting(fields: Iterable[Field], ticks: int) -> tuple[list[Field], list[str]]:
    """Take fields as long as their values fit, and name the others."""
    taken, left, room = [], [], PLOTTED
    for each in fields:
        room -= each.nbytes * ticks
        if room >= 0:
            taken.append(each)
        else:
            room += each.nbytes * ticks
            left.append(each.name)
    return taken, left
