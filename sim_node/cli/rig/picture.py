"""The demo's picture: travel of body and wheel with the controller on and off, in one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.replay.plot import Curve, Panel, figure

ON, OFF, ROAD = "#1f77b4", "#d62728", "#8c8c8c"


@dataclass(frozen=True, slots=True)
class Travel:
    """Time histories of one corner: ``seconds`` (n,), and metres (n,) each of body, wheel and road."""

    seconds: np.ndarray[Any, Any]
    body: np.ndarray[Any, Any]
    wheel: np.ndarray[Any, Any]
    road: np.ndarray[Any, Any]


def draw(on: Travel, off: Travel, facts: Mapping[str, str], to: Path) -> Path:
    """Write the page and return its path; ``facts`` become the line under the title."""
    panels = []
    for part, title in (("body", "Body travel"), ("wheel", "Wheel travel")):
        curves = [Curve("controller off", off.seconds, _mm(off, part), OFF)]
        curves.append(Curve("controller on", on.seconds, _mm(on, part), ON))
        if part == "wheel":
            curves.append(Curve("road", on.seconds, _mm(on, "road"), ROAD, "dot"))
        panels.append(Panel(title, "mm", curves))
    drawn = figure(panels)
    line = " · ".join(f"{name} {value}" for name, value in facts.items())
    title = f"Quarter-car suspension, closed loop<br><sup>{line}</sup>"
    drawn.update_layout(title={"text": title}, height=760, margin={"t": 110})
    to.parent.mkdir(parents=True, exist_ok=True)
    drawn.write_html(to, include_plotlyjs=True, full_html=True, config={"displaylogo": False})
    return to


def _mm(travel: Travel, part: str) -> np.ndarray[Any, Any]:
    """Take a part in millimetres, to a micrometre."""
    rounded: np.ndarray[Any, Any] = np.round(getattr(travel, part) * 1e3, 3)
    return rounded
