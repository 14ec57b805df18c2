"""``sim-node bench NAME``: figures of ours beside the peers', measured in one run."""

from __future__ import annotations

import importlib
import json
import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from sim_node.cli.output import Outcome, Table, plain


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
    save: Annotated[Path | None, typer.Option(help="Also write the JSON to this folder, as NAME.json.")] = None,
) -> Outcome:
    """Measure, beside peers in the same run; absent peers are named with the reason."""
    measured = importlib.import_module(f"sim_node.cli.benches.{name.value}").run()
    result: dict[str, Any] = measured.as_json()
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        (save / f"{name.value}.json").write_text(_readable(plain(result)), "utf-8")
    return Outcome(result, _tables(result))


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
