"""``sim-node record``: a recorder for running nodes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sim_node.cli.output import Outcome, Table, progress
from sim_node.errors import SimNodeError


def command(
    node: Annotated[
        list[str] | None, typer.Option(help="Name of a node, such as /plant; repeatable. Default: /plant.")
    ] = None,
    bag: Annotated[Path | None, typer.Option(help="A .mcap file, or a folder; default: by date and time.")] = None,
    storage: Annotated[str, typer.Option(help="mcap or sqlite3.")] = "mcap",
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Stop after so long; default: at Ctrl-C.")] = None,
    wait: Annotated[
        float, typer.Option(min=0.0, help="How long to wait for the first message before --seconds begin to count.")
    ] = 0.0,
    force: Annotated[bool, typer.Option(help="Replace an existing bag.")] = False,
) -> Outcome:
    """Record what replay needs of running nodes until Ctrl-C."""
    try:
        from sim_node.node.recorder import record
    except ImportError as fault:
        raise SimNodeError(f"there is no ROS here ({fault}); see 'sim-node doctor'") from fault
    from sim_node.replay.writer import BagWriter

    nodes = node or ["/plant"]
    path = bag or Path(time.strftime("sim_node_%Y_%m_%d-%H_%M_%S"))
    with progress("record") as update, BagWriter(path, storage, force) as writer:
        done = record(writer, nodes, seconds, lambda so_far: update(0, 0, f"{so_far.ticks} ticks"), wait)
    result = {"bag": str(path), "messages": done.messages, "ticks": done.ticks, "topics": writer.counts}
    rows = [("bag", path), ("messages", done.messages), ("ticks", done.ticks), *writer.counts.items()]
    error = "" if done.messages else f"nothing was received from {', '.join(nodes)}; does it run, in this ROS domain?"
    return Outcome(result, [Table("record", ("", "value"), rows)], 2 if error else 0, error)
