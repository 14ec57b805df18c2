"""The index of a session: which requirement is tested by which test, and with what result."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sim_node.replay.page import BAD, GOOD, NEUTRAL, Badge, Link, Page
from sim_node.testing.evidence import badge

if TYPE_CHECKING:
    import pytest

REQUIREMENT = "requirement"


@dataclass
class Entry:
    """A test: ``requirements`` that it is there for, ``page`` its own ('': none), ``bags`` their digests by path."""

    test: str
    outcome: str
    requirements: list[str]
    page: str
    bags: dict[str, str]


class Index:
    """Collects the reports of a session's tests, those of other processes too; what it needs is in them."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def take(self, report: pytest.TestReport) -> None:
        """Take a phase's report: a test's outcome is that of its worst phase."""
        told = report.user_properties
        entry = self._entries.setdefault(report.nodeid, Entry(report.nodeid, "passed", [], "", {}))
        if report.when == "setup":  # a test that is run again begins anew
            entry.outcome = "passed"
        if report.failed:
            entry.outcome = "failed" if report.when == "call" else "error"
        elif report.skipped and entry.outcome == "passed":
            entry.outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"
        entry.requirements = list(dict.fromkeys(str(value) for name, value in told if name == REQUIREMENT))
        entry.page = next((str(value) for name, value in told if name == "page"), "")
        bags = [str(value) for name, value in told if name == "bag"]
        entry.bags = dict(zip(bags, (str(value) for name, value in told if name == "bag_sha256")))

    @property
    def entries(self) -> list[Entry]:
        """The tests that have requirements or evidence."""
        return [entry for entry in self._entries.values() if entry.requirements or entry.page]

    def write(self, to: Path, title: str) -> Path:
        """Write the page and return its path."""
        page = Page(f"Evidence: {title}")
        counts = Counter(entry.outcome for entry in self.entries)
        words = (f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        page.paragraph(", ".join(words), f"({time.strftime('%Y-%m-%d %H:%M:%S %Z')})")
        requirements: dict[str, list[Entry]] = {}
        for entry in self.entries:
            for name in entry.requirements:
                requirements.setdefault(name, []).append(entry)
        if requirements:
            page.heading("Requirements")
            rows = []
            for name, tests in sorted(requirements.items()):
                links, outcomes = [self._link(entry, to) for entry in tests], [badge(entry.outcome) for entry in tests]
                rows.append((name, _result(tests), links, outcomes))
            page.table(("requirement", "result", "tests", "each"), rows)
        page.heading("Tests")
        shown = []
        for entry in self.entries:
            bags = [f"{Path(bag).name} {digest}" for bag, digest in entry.bags.items()]
            shown.append((self._link(entry, to), badge(entry.outcome), ", ".join(entry.requirements), bags))
        page.table(("test", "result", "requirements", "bags, SHA-256"), shown)
        return page.write(to)

    def _link(self, entry: Entry, to: Path) -> Link | str:
        return Link(entry.test, os.path.relpath(entry.page, to.parent)) if entry.page else entry.test


def _result(tests: list[Entry]) -> Badge:
    """A requirement is met where every test of it passed; one that was left out shows nothing."""
    outcomes = {entry.outcome for entry in tests}
    if outcomes == {"passed"}:
        return Badge("MET", GOOD)
    return Badge("NOT MET", BAD) if outcomes & {"failed", "error"} else Badge("NOT SHOWN", NEUTRAL)
