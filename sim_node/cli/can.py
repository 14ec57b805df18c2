"""``sim-node can``: a plant on a CAN bus."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Annotated, Any

import typer

from sim_node.cli.output import Outcome, Table
from sim_node.errors import SimNodeError
from sim_node.stop import stop_requested


def command(
    wiring: Annotated[Path, typer.Argument(help="YAML file: bus, DBC files, and which message carries what.")],
    node: Annotated[str, typer.Option(help="Name of the node, such as /plant; default: the file's.")] = "",
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Stop after so long; default: at Ctrl-C.")] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write each message to a .blf, .asc, .log, .trc or .csv file.")
    ] = None,
) -> Outcome:
    """Put a plant on a CAN bus: its outputs as messages of a DBC file, messages as its inputs."""
    try:
        from sim_node.wires.gateway import Gateway, opened
        from sim_node.wires.wiring import Wiring
    except ImportError as fault:
        raise SimNodeError(f"CAN needs python-can and cantools ({fault}): pip install 'sim_node[can]'") from fault

    described = Wiring.read(wiring)
    described = replace(described, plant=node or described.plant)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_requested())
        bus = stack.enter_context(opened(described))
        gateway = Gateway(described, bus, _tell, stack.enter_context(_logger(log)) if log else None)
        _tell(f"{described.plant} on {' '.join(map(str, described.bus.values()))}")
        if seconds is not None:
            ending = Timer(seconds, stop.set)
            stack.callback(ending.cancel)
            ending.start()
        gateway.run(stop)
    return Outcome(gateway.counts, _tables(gateway.counts))


def _logger(path: Path) -> Any:
    import can

    try:
        return can.Logger(path)
    except (OSError, ValueError, ImportError) as fault:
        raise SimNodeError(f"--log {path}: {fault}") from fault


def _tell(line: str) -> None:
    print(f"sim-node can: {line}", file=sys.stderr, flush=True)


def _tables(counts: dict[str, dict[str, dict[str, Any]]]) -> list[Table]:
    return [
        Table(way, ("message", *next(iter(rows.values()))), [(name, *row.values()) for name, row in rows.items()])
        for way, rows in counts.items()
        if rows
    ]
