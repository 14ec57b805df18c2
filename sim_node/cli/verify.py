"""``sim-node verify``: prove that a bag replays."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim_node.cli.arguments import use_bundle
from sim_node.cli.output import Outcome, Table, progress

if TYPE_CHECKING:
    from sim_node.replay.report import Report


def command(
    bag: Annotated[Path, typer.Argument(help="A .mcap or .db3 file, or a bag folder.")],
    device: Annotated[str, typer.Option(help="Where to compute again: cpu, cuda:0 or another GPU, or python.")] = "cpu",
    plant: Annotated[str | None, typer.Option(help="module:Class to use instead of the recorded one.")] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="Verify the plant of this namespace only, such as /car; repeatable.")
    ] = None,
    bundle: Annotated[Path | None, typer.Option(help="Take kernels from what 'sim-node build --out' wrote.")] = None,
) -> Outcome:
    """Compute every recorded tick again and compare each hash: exit 0 identical, 1 diverged, 2 unusable."""
    from sim_node.replay.verify import verify

    if bundle is not None:
        use_bundle(bundle)
    with progress("verify") as update:
        report = verify(
            bag,
            device=device,
            plant=plant or "",
            topics=topic or (),
            progress=lambda done, total, ticks: update(done, total, f"{ticks} ticks"),
        )
    result: dict[str, Any] = asdict(report)
    warnings = [*report.notes, *(part for part in (report.torn, report.damage) if part and not report.fault)]
    warnings += [
        f"{skip.topic}: ticks {skip.first} to {skip.last} not verified: {skip.reason}" for skip in report.skips[:5]
    ]
    return Outcome(result, _tables(report), report.exit_code, report.fault, warnings)


def _tables(report: Report) -> list[Table]:
    rows = [
        ("bag", report.bag),
        ("plants", ", ".join(report.topics)),
        ("device", report.device),
        ("ticks", report.ticks),
        ("verified", report.verified),
        ("diverged", report.diverged),
        ("skipped", report.skipped),
        ("lost before the bag", report.lost),
        ("keyframes", report.keyframes),
    ]
    first = report.first_divergence
    if first is not None:
        rows.append(("first divergence", f"{first.topic} tick {first.tick}, field '{first.field}'"))
        if first.index is not None:
            distance = "" if first.ulp is None else f", {first.ulp} ULP apart"
            text = f"{first.field}{first.index}: recorded {first.recorded!r}, computed {first.computed!r}{distance}"
            rows.append((f"at the keyframe of tick {first.values_tick}", text))
    verdict = {0: "identical", 1: "DIVERGED", 2: "NOT VERIFIED"}[report.exit_code]
    return [Table(f"{report.bag}: {verdict}", ("", "value"), rows)]
