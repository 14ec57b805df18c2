"""``sim-node campaign``: a table of runs with faults, and whether what is expected of each was so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim_node.cli.output import Outcome, Table, progress
from sim_node.errors import SimNodeError

if TYPE_CHECKING:
    from sim_node.testing.verdict import Verdict


def command(
    file: Annotated[Path, typer.Argument(help="YAML file: plant, controller, and a table of cases.")],
    case: Annotated[list[str] | None, typer.Option(help="Run this case only; repeatable.")] = None,
    evidence: Annotated[
        Path | None,
        typer.Option(help="Where bags and pages go, a folder a case; default: evidence/ and the name of the file."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="The page of all cases; default: index.html beside them.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit's XML there.")] = None,
) -> Outcome:
    """Run the cases of a campaign: exit 0 all passed, 1 one did not, 2 unusable file."""
    from sim_node.testing.campaign import Campaign
    from sim_node.testing.summary import counts, write_junit, write_page
    from sim_node.testing.verdict import PASSED, tried

    campaign = Campaign.read(file).chosen(case or ())
    folder = evidence or Path("evidence", campaign.name)
    verdicts: list[Verdict] = []
    try:
        with progress("campaign") as update:
            for each in campaign.cases:
                update(len(verdicts), len(campaign.cases), each.name)
                verdicts.append(tried(each, campaign.name, folder))
        page = write_page(campaign, verdicts, report or folder / "index.html")
        xml = write_junit(campaign, verdicts, junit) if junit else None
    except OSError as fault:
        raise SimNodeError(f"{fault.filename or folder}: cannot be written: {fault.strerror}") from fault
    counted = counts(verdicts)
    result: dict[str, Any] = {
        "campaign": str(file),
        "passed": counted[PASSED],
        "failed": len(verdicts) - counted[PASSED],
        "report": str(page),
        "junit": str(xml) if xml else None,
        "cases": [_told(each) for each in verdicts],
    }
    rows = [(each.case.name, each.outcome, "\n".join(each.faults), _said(each)) for each in verdicts]
    title = f"{campaign.name}: {counted[PASSED]} of {len(verdicts)} passed; {page}"
    table = Table(title, ("case", "result", "faults", "found"), rows)
    return Outcome(result, [table], 0 if counted[PASSED] == len(verdicts) else 1)


def _said(verdict: Verdict) -> str:
    return verdict.failure or "\n".join(f"{each.name}: {each.told}" for each in verdict.findings)


def _told(verdict: Verdict) -> dict[str, Any]:
    evidence = dict(verdict.properties)
    return {
        "name": verdict.case.name,
        "outcome": verdict.outcome,
        "faults": list(verdict.faults),
        "findings": [{"name": each.name, "passed": each.passed, "told": each.told} for each in verdict.findings],
        "failure": verdict.failure,
        "bag": evidence.get("bag"),
        "ticks": int(evidence.get("ticks", 0)),
        "verified": int(evidence.get("verified", 0)),
        "page": str(verdict.page),
    }
