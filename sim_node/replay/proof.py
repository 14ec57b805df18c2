"""What a page tells of a bag: the computation that is in it, and whether it replays."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from sim_node.plant import Keyframe
from sim_node.replay.page import BAD, GOOD, NEUTRAL, Badge, Page
from sim_node.replay.report import Report

VERDICTS = {0: Badge("identical", GOOD), 1: Badge("DIVERGED", BAD), 2: Badge("NOT VERIFIED", NEUTRAL)}


def add_proof(page: Page, report: Report) -> None:
    """Tell what verify found."""
    facts: dict[str, Any] = {
        "replay": VERDICTS[report.exit_code],
        "ticks": report.ticks,
        "verified, bit for bit": report.verified,
        "diverged": report.diverged,
        "skipped": report.skipped,
        "lost before the bag": report.lost,
        "device": report.device,
    }
    if first := report.first_divergence:
        at = "" if first.index is None else f"{first.index}: recorded {first.recorded!r}, computed {first.computed!r}"
        facts["first divergence"] = f"{first.topic} tick {first.tick}, field '{first.field}'{at}"
    notes = [*report.notes, report.fault, report.torn]
    notes += [f"ticks {skip.first} to {skip.last} not verified: {skip.reason}" for skip in report.skips]
    if notes := [note for note in notes if note]:
        facts["notes"] = notes
    page.facts(facts)


def computation(start: Keyframe) -> dict[str, Any]:
    """Tell which computation a keyframe belongs to, by name."""
    return {
        "plant": start.plant,
        "parameters": start.parameters,
        "rate": f"{1e9 / start.dt_ns:g} Hz, {start.substeps} substeps a tick",
        "seed": start.seed,
        "target": start.target,
        "versions": start.versions,
        "plan digest": start.plan_digest,
        "layout digest": start.layout.digest,
    }


def digest(bag: Path) -> str:
    """The SHA-256 of a bag: of its file, or of its files in the order of their names."""
    files = sorted(path for path in bag.rglob("*") if path.is_file()) if bag.is_dir() else [bag]
    found = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                found.update(block)
    return found.hexdigest()
