"""What a test leaves: bags that verify, and one page that says what was tested, how, and what came of it."""

from __future__ import annotations

import hashlib
import platform
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sim_node
from sim_node.replay import plot
from sim_node.replay.page import BAD, GOOD, NEUTRAL, Badge, Page
from sim_node.replay.proof import add_proof, computation, digest
from sim_node.replay.report import Report
from sim_node.replay.verify import verify
from sim_node.testing.rig import Rig

KINDS = {"passed": GOOD, "failed": BAD, "error": BAD}


def folder_of(root: Path, test: str) -> Path:
    """Where a test's evidence lies: a name that every file system takes, and no other test has."""
    words = re.sub(r"[^A-Za-z0-9_.-]+", "-", test.rsplit("/", 1)[-1])[:80].strip("-.")
    return root / f"{words}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"


def badge(outcome: str) -> Badge:
    """Colour an outcome."""
    return Badge(outcome.upper(), KINDS.get(outcome, NEUTRAL))


@dataclass
class Evidence:
    """The evidence of one test: ``test`` is its id, ``requirements`` what it is there for, ``about`` its docstring."""

    test: str
    folder: Path
    requirements: Sequence[str] = ()
    about: str = ""
    rigs: list[Rig] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    @property
    def page(self) -> Path:
        """Where the page is written."""
        return self.folder / "index.html"

    def next_bag(self) -> Path:
        """Where the next rig's bag goes."""
        number = len(self.rigs) + 1
        return self.folder / ("bag.mcap" if number == 1 else f"bag_{number}.mcap")

    def conclude(self) -> str:
        """Verify every bag, whose rigs have ended; returns what is wrong with them, '' where all replay."""
        wrong = []
        for rig in self.rigs:
            if not rig.step:
                continue
            report = verify(rig.bag, device=rig.options.device)
            self.reports.append(report)
            if first := report.first_divergence:
                wrong.append(
                    f"{rig.bag} does not replay: tick {first.tick} differs in '{first.field}' "
                    f"({report.diverged} of {report.ticks} ticks diverged)"
                )
            elif report.verified < rig.step:
                why = report.fault or f"{report.verified} of {rig.step} ticks are verified"
                wrong.append(f"{rig.bag} does not prove the run: {why}")
        return "\n".join(wrong)

    def properties(self) -> list[tuple[str, str]]:
        """Name what a JUnit entry is to hold, beside the requirements."""
        found = [("page", str(self.page))]
        for rig, report in zip((rig for rig in self.rigs if rig.step), self.reports):
            found += [
                ("bag", str(rig.bag)),
                ("bag_sha256", digest(rig.bag)),
                ("plan_digest", rig.start.plan_digest),
                ("layout_digest", rig.start.layout.digest),
                ("state_hash", f"{int(rig.stepper.hashes().sum()):016x}"),
                ("ticks", str(report.ticks)),
                ("verified", str(report.verified)),
            ]
        return found

    def write(self, outcome: str, failure: str) -> Path:
        """Write the page and return its path."""
        page = Page(self.test)
        page.paragraph(badge(outcome), f"requirements: {', '.join(self.requirements) or 'none'}")
        if self.about:
            page.quote(self.about)
        if failure:
            page.heading("Failure")
            page.quote(failure)
        reports = iter(self.reports)
        for rig in self.rigs:
            self._add(page, rig, next(reports) if rig.step else None)
        page.heading("Made by")
        page.facts(
            {
                "sim_node": sim_node.__version__,
                "python": platform.python_version(),
                "machine": f"{platform.system()} {platform.release()}, {platform.machine()}",
                "written": time.strftime("%Y-%m-%d %H:%M:%S %Z"),
            }
        )
        return page.write(self.page)

    def _add(self, page: Page, rig: Rig, report: Report | None) -> None:
        page.heading(f"Run: {rig.bag.name}")
        page.facts(_run(rig))
        if rig.acts:
            page.heading("Procedure")
            acts = [(f"{act.seconds:.6g}", act.what) for act in rig.acts]
            page.table(("simulated time, s", "what the test did"), acts)
        if report is None:
            page.paragraph("No tick was done.")
            return
        page.heading("Replay")
        add_proof(page, report)
        page.heading("Plots")
        page.plot(plot.figure(plot.panels(rig.histories(), rig.fields)))
        if rig.options.realtime:
            page.heading("Real time")
            page.facts({name: str(count) for name, count in rig.stepper.counters().items()})
            told = {name: each.filled for name, each in rig.stepper.statistics().items() if each.count}
            told.pop("delay_ticks", None)  # no time
            page.plot(plot.bars(told, "µs", 1e-3))


def _run(rig: Rig) -> Mapping[str, Any]:
    options, factor = rig.options, rig.time / rig.wall_s if rig.wall_s else 0.0
    controller: Any = "none"
    if options.function is not None:
        controller = f"function {getattr(options.function, '__qualname__', options.function)}"
    elif options.command is not None:
        controller = f"process {' '.join(options.command)}"
    return {
        **computation(rig.start),
        "controller": controller,
        **({} if options.ros is None else {"ROS node": rig.names["node"], "its parameters": dict(options.ros)}),
        "clock": f"real time, factor {factor:.4g}" if options.realtime else "lockstep",
        "ticks": f"{rig.step} ({rig.time:g} s of simulated time)",
        "bag": rig.bag.name,
        "SHA-256 of the bag": digest(rig.bag),
    }
