"""``sim-node couple``: what plants of other processes tell each other."""

from __future__ import annotations

from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from sim_node.cli.output import Outcome, Table
from sim_node.cli.run import tell
from sim_node.errors import SimNodeError
from sim_node.stop import stop_requested


def command(
    network: Annotated[Path, typer.Argument(help="YAML file of couplings, from which output to which input.")],
    seconds: Annotated[float | None, typer.Option(min=0.0, help="Stop after so long; default: at Ctrl-C.")] = None,
) -> Outcome:
    """Couple plants that run in processes of their own: outputs of one are inputs of another, tick by tick."""
    from sim_node.wires.conductor import Conductor
    from sim_node.wires.network import Network

    couplings = Network.read(network).couplings
    if not couplings:
        raise SimNodeError(f"{network}: couplings: there are none")
    conductor = Conductor(couplings, tell)
    with stop_requested() as stop:
        ending = Timer(seconds or 0.0, stop.set)
        if seconds is not None:
            ending.start()
        try:
            conductor.run(stop)
        finally:
            ending.cancel()
    return Outcome({"plants": conductor.steps}, [Table("couple", ("node", "ticks"), list(conductor.steps.items()))])
