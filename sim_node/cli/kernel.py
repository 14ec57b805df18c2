"""``sim-node inspect kernel``: what the compiler makes of a kernel."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import typer

from sim_node.cli.output import Outcome, Table
from sim_node.errors import SimNodeError


def kernel(
    reference: Annotated[str, typer.Argument(metavar="KERNEL", help="file.py:NAME or module:NAME.")],
    target: Annotated[str, typer.Option(help="host, or a GPU: sm_75 … sm_121.")] = "host",
    stage: Annotated[
        str | None,
        typer.Option(
            help="One text: lower, a pass (inline scalarise fold cse ranges dce), hoist, llvm, code (assembly or PTX)."
        ),
    ] = None,
) -> Outcome:
    """Show a kernel after each pass, as LLVM IR and as code, and which checks are left in it."""
    from sim_node.compiler.inspection import inspection

    found = inspection(_find(reference), target)
    if stage is not None and stage not in found.stages:
        raise SimNodeError(f"--stage {stage}: there is no such stage; one of {', '.join(found.stages)}")
    checks = [
        {"kind": c.kind, "subject": c.subject, "at": str(c.location) if c.location else "", "state": c.state}
        for c in found.checks
    ]
    result: dict[str, Any] = {
        "kernel": found.name,
        "target": found.target,
        "stack_bytes": found.stack,
        "registers": found.registers,
        "vectorised": found.lanes > 1,
        "lanes": found.lanes,
        "why": list(found.why),
        "checks": checks,
        "stages": found.stages if stage is None else {stage: found.stages[stage]},
    }
    if stage is not None:
        return Outcome(result, text=found.stages[stage].rstrip("\n"))
    registers = ", ".join(f"{count} {kind}" for kind, count in found.registers.items())
    vectorised = f"{found.lanes} lanes" if found.lanes > 1 else "no: " + "; ".join(found.why)
    rows = [("target", found.target), ("stack", f"{found.stack} bytes"), ("registers", registers)]
    states = Counter(check.state for check in found.checks)
    rows += [("checks", ", ".join(f"{count} {state}" for state, count in states.items()) or "none")]
    rows += [("vectorised", vectorised)]
    lines = [(name, text.count("\n")) for name, text in found.stages.items()]
    tables = [
        Table(found.name, ("", "value"), rows),
        Table("checks", ("kind", "subject", "at", "state"), [list(check.values()) for check in checks]),
        Table("stages, shown by --stage", ("stage", "lines"), lines),
    ]
    return Outcome(result, tables)


def _find(text: str) -> Any:
    from sim_node.lang.kernel import Kernel
    from sim_node.plant.reference import module_of

    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        raise SimNodeError(f"'{text}' names no kernel; write file.py:NAME or module:NAME")
    found: Any = module_of(place, text)
    kernels = [key for key, value in vars(found).items() if isinstance(value, Kernel)]
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Kernel):
        what = "there is no such name there" if found is None else f"it is {type(found).__name__}, not a kernel"
        raise SimNodeError(f"'{text}': {what}; kernels there: {', '.join(kernels) or 'none'}")
    return found
