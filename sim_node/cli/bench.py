"""``sim-node bench NAME``: figures of ours beside the peers', measured in one run."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim_node.cli.output import Outcome, Table, plain
from sim_node.errors import SimNodeError

if TYPE_CHECKING:
    from sim_node.cli.benches.measurement import Measurement

# Who measures on GPUs, too: the module of cli/benches whose ``run`` takes one.
ON_GPUS = {"bridge": "bridge_gpu", "spring": "spring_gpu", "compile": "compile", "tick": "tick_gpu"}


class Bench(str, Enum):
    """What can be measured; each is a module of ``cli/benches`` with a function ``run``."""

    launch = "launch"
    bridge = "bridge"
    tick = "tick"
    math = "math"
    spring = "spring"
    lbm = "lbm"
    compile = "compile"


def command(
    name: Annotated[Bench, typer.Argument(help="What to measure.")],
    device: Annotated[
        str, typer.Option(help=f"Where to measure: cpu, or for {', '.join(ON_GPUS)} a GPU such as cuda:0.")
    ] = "cpu",
    save: Annotated[
        Path | None, typer.Option(help="Also write the JSON to this folder, as NAME.json, of a GPU as NAME_cuda.json.")
    ] = None,
) -> Outcome:
    """Measure, beside peers in the same run; absent peers are named with the reason."""
    measured = _measured(name.value, device)
    result: dict[str, Any] = measured.as_json()
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        kind = "_cuda" if measured.device else ""
        (save / f"{name.value}{kind}.json").write_text(_readable(plain(result)), "utf-8")
    return Outcome(result, _tables(result))


def _measured(name: str, device: str) -> Measurement:
    from sim_node.device.names import DEFAULT, get_device

    place, folder = get_device(device), "sim_node.cli.benches"
    if place is DEFAULT:
        run: Callable[..., Measurement] = importlib.import_module(f"{folder}.{name}").run
        return run()
    if not place.is_cuda or name not in ON_GPUS:
        raise SimNodeError(
            f"bench {name} does not measure on '{place}': all do on the CPU, and on GPUs {', '.join(ON_GPUS)}"
        )
    run = importlib.import_module(f"{folder}.{ON_GPUS[name]}").run
    return run(place)


def _readable(result: Any) -> str:
    """Write JSON a key a line, and lists of numbers, as of a histogram, on one."""
    text = json.dumps(result, indent=1)
    flat = re.sub(r"\[\s+(-?[\d.e+-]+),\s+(-?[\d.e+-]+)\s+\]", r"[\1, \2]", text)
    return re.sub(r"(?<=\]),\s+(?=\[)", ", ", flat) + "\n"


def _tables(result: dict[str, Any]) -> list[Table]:
    figures = [("ours", key, _text(value)) for key, value in result["figures"].items()]
    for peer, values in result["peers"].items():
        figures += [(peer, key, _text(value)) for key, value in values.items()]
    ratios = [(key, f"{value:g}") for key, value in result["ratios"].items()]
    return [Table(f"bench {result['name']}", ("who", "figure", ""), figures), Table("ratios", ("", "times"), ratios)]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items() if not isinstance(item, list))
    return f"{value:g}" if isinstance(value, float) else str(value)
