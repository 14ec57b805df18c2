"""What came of a case: whether all that was expected was so, and the evidence."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sim_node.errors import SimNodeError
from sim_node.testing.campaign import Case
from sim_node.testing.evidence import Evidence
from sim_node.testing.expectation import Finding
from sim_node.testing.rig import Rig

PASSED, FAILED, ERROR = "passed", "failed", "error"


@dataclass(frozen=True, slots=True)
class Verdict:
    """``outcome`` is 'passed', 'failed' (an expectation, or the replay of the bag), or 'error': the run broke off.

    ``faults`` are told in words; ``failure`` says what was wrong, '' where nothing was. ``properties`` are those of the
    evidence, ``page`` is its page, ``seconds`` of real time it all took.
    """

    case: Case
    outcome: str
    faults: Sequence[str]
    findings: Sequence[Finding]
    failure: str
    page: Path
    properties: Sequence[tuple[str, str]]
    seconds: float


def tried(case: Case, campaign: str, folder: Path) -> Verdict:
    """Run a case, verify its bag, and leave both with a page in the folder ``folder/NAME``."""
    begun = time.monotonic()
    evidence = Evidence(f"{campaign}: {case.name}", folder / case.name, case.requirements, case.about)
    findings: list[Finding] = []
    failures, outcome = [], PASSED
    try:
        with Rig(case.options, evidence.next_bag()) as rig:
            evidence.rigs.append(rig)
            for name, value in case.inputs.items():
                rig.set(name, value)
            for asked in case.faults:
                rig.fault(asked["variable"], **{key: value for key, value in asked.items() if key != "variable"})
            rig.run(case.seconds)
            over = rig.histories()
            findings = [each.judge(over, rig.fields) for each in case.expectations]
    except SimNodeError as fault:
        outcome, failures = ERROR, [str(fault)]
    failures += [f"{each.name}: {each.told}" for each in findings if not each.passed]
    if wrong := evidence.conclude():
        failures.append(wrong)
    if failures and outcome != ERROR:
        outcome = FAILED
    failure = "\n".join(failures)
    page = evidence.write(outcome, failure)
    faults = [
        act.what.removeprefix("fault: ") for rig in evidence.rigs for act in rig.acts if act.what[:7] == "fault: "
    ]
    took = time.monotonic() - begun
    return Verdict(case, outcome, faults, findings, failure, page, evidence.properties(), took)
