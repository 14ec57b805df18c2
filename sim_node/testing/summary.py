"""The report of a campaign: one page, and the XML that CI reads."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import sim_node
from sim_node.replay.page import BAD, GOOD, Badge, Link, Page
from sim_node.testing.campaign import Campaign
from sim_node.testing.evidence import badge
from sim_node.testing.verdict import ERROR, FAILED, PASSED, Verdict


def write_page(campaign: Campaign, verdicts: Sequence[Verdict], to: Path) -> Path:
    """Write the page, which fetches nothing and leads to those of the cases; returns its path."""
    page, counted = Page(f"Campaign: {campaign.name}"), counts(verdicts)
    passed = counted[PASSED] == len(verdicts)
    page.paragraph(
        Badge("PASSED" if passed else "FAILED", GOOD if passed else BAD),
        f"{counted[PASSED]} of {len(verdicts)} cases passed, {counted[FAILED]} failed, {counted[ERROR]} broke off",
    )
    page.heading("Cases")
    page.table(
        ("case", "result", "faults", "what was expected and found", "requirements"),
        [
            (
                [Link(each.case.name, os.path.relpath(each.page, to.parent)), each.case.about],
                badge(each.outcome),
                list(each.faults) or "none",
                _found(each),
                ", ".join(each.case.requirements),
            )
            for each in verdicts
        ],
    )
    if wrong := [each for each in verdicts if each.failure]:
        page.heading("Failures")
        for each in wrong:
            page.quote(f"{each.case.name}\n{each.failure}")
    page.heading("Bags")
    page.table(
        ("case", "ticks", "verified", "SHA-256 of the bag", "plan digest"),
        [
            (each.case.name, *(told.get(name, "") for name in ("ticks", "verified", "bag_sha256", "plan_digest")))
            for each, told in ((each, dict(each.properties)) for each in verdicts)
        ],
    )
    page.heading("Made by")
    written = time.strftime("%Y-%m-%d %H:%M:%S %Z")
    page.facts({"file": str(campaign.path), "sim_node": sim_node.__version__, "written": written})
    return page.write(to)


def write_junit(campaign: Campaign, verdicts: Sequence[Verdict], to: Path) -> Path:
    """Write the cases as JUnit's XML, with the properties that a test on a rig has; returns its path."""
    counted = counts(verdicts)
    suite = ElementTree.Element(
        "testsuite", name=campaign.name, tests=str(len(verdicts)), failures=str(counted[FAILED]),
        errors=str(counted[ERROR]), time=f"{sum(each.seconds for each in verdicts):.3f}",
    )  # fmt: skip
    for each in verdicts:
        named = {"classname": campaign.name, "name": each.case.name, "time": f"{each.seconds:.3f}"}
        entry = ElementTree.SubElement(suite, "testcase", named)
        told = ElementTree.SubElement(entry, "properties")
        for name, value in [*(("requirement", one) for one in each.case.requirements), *each.properties]:
            ElementTree.SubElement(told, "property", name=name, value=value)
        if each.failure:
            wrong = ElementTree.SubElement(entry, "error" if each.outcome == ERROR else "failure")
            wrong.set("message", each.failure.splitlines()[0])
            wrong.text = each.failure
    root = ElementTree.Element("testsuites")
    root.append(suite)
    to.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(root).write(to, "utf-8", xml_declaration=True)
    return to


def counts(verdicts: Sequence[Verdict]) -> Counter[str]:
    """Count the cases by outcome."""
    return Counter(each.outcome for each in verdicts)


def _found(verdict: Verdict) -> list[str]:
    return [f"{'✓' if each.passed else '✗'} {each.name}: {each.told}" for each in verdict.findings]
