"""``sim-node doctor``: what this machine has, lacks, and how to mend it."""

from __future__ import annotations

from dataclasses import asdict

from sim_node.cli.output import Outcome, Table, progress


def command() -> Outcome:
    """Check this machine: exit 1 if anything fails."""
    from sim_node.cli.checks import CHECKS, FAIL, Check

    found: dict[str, Check] = {}
    with progress("doctor") as update:
        for number, (name, check) in enumerate(CHECKS.items()):
            update(number, len(CHECKS), name)
            try:
                found[name] = check()
            except Exception as fault:  # a doctor that falls ill names the ailment
                found[name] = Check(FAIL, f"{type(fault).__name__}: {fault}", "this is a fault of sim-node; report it")
    result = {"checks": [{"id": name, **asdict(check)} for name, check in found.items()]}
    rows = [(name, check.status, check.detail, check.remedy) for name, check in found.items()]
    failed = [name for name, check in found.items() if check.status == FAIL]
    table = Table("doctor", ("check", "status", "detail", "remedy"), rows)
    return Outcome(result, [table], 1 if failed else 0, f"failed: {', '.join(failed)}" if failed else "")
