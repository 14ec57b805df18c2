"""``sim-node report``: one page about a finished run, out of its bag."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sim_node.cli.arguments import use_bundle
from sim_node.cli.output import Outcome, Table, progress
from sim_node.errors import SimNodeError


def command(
    bag: Annotated[Path, typer.Argument(help="A .mcap or .db3 file, or a bag folder.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page; default: the bag's name with .html.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where to compute again: cpu, cuda:0 or another GPU, or python.")] = "cpu",
    plant: Annotated[str | None, typer.Option(help="module:Class to use instead of the recorded one.")] = None,
    bundle: Annotated[Path | None, typer.Option(help="Take kernels from what 'sim-node build --out' wrote.")] = None,
) -> Outcome:
    """Write a self-contained HTML page of a bag: the run, its timing, plots, and whether it replays, as verify says."""
    from sim_node.replay import status
    from sim_node.replay.verify import verify

    if bundle is not None:
        use_bundle(bundle)
    to = output or bag.with_suffix(".html")
    if to.resolve() == bag.resolve():
        raise SimNodeError(f"{to}: that is the bag; name the page otherwise")
    found = status.lives(bag)
    with progress("verify") as update:
        told = verify(
            bag,
            device=device,
            plant=plant or "",
            progress=lambda done, total, ticks: update(done, total, f"{ticks} ticks"),
        )
    try:
        page = status.write(bag, told, found, to)
    except OSError as fault:
        raise SimNodeError(f"{to}: cannot be written: {fault.strerror}") from fault
    runs = [
        {
            "plant": life.name,
            "generation": life.generation,
            "ticks": life.ticks,
            "real_time_factor": life.factor,
            "unanswered": life.unanswered,
            "misses": life.counters.get("misses"),
        }
        for life in found
    ]
    result: dict[str, Any] = {
        "page": str(page),
        "bag": str(bag),
        "ticks": told.ticks,
        "verified": told.verified,
        "diverged": told.diverged,
        "runs": runs,
    }
    rows = [(name, value) for name, value in result.items() if name != "runs"]
    return Outcome(result, [Table("report", ("", "value"), rows)], told.exit_code, told.fault, told.notes)
