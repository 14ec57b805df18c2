"""The demo's picture: travel of body and wheel with the controller on and off, in one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ON, OFF, ROAD = "#1f77b4", "#d62728", "#8c8c8c"
MAX_POINTS = 4000  # a trace; more than a screen shows, few enough to drag with the mouse


@dataclass(frozen=True, slots=True)
class Travel:
    """Time histories of one corner: ``seconds`` (n,), and metres (n,) each of body, wheel and road."""

    seconds: np.ndarray[Any, Any]
    body: np.ndarray[Any, Any]
    wheel: np.ndarray[Any, Any]
    road: np.ndarray[Any, Any]


def draw(on: Travel, off: Travel, facts: Mapping[str, str], to: Path) -> Path:
    """Write the page and return its path; ``facts`` become the line under the title."""
    from plotly import graph_objects
    from plotly.subplots import make_subplots

    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.08,
        subplot_titles=("Body travel", "Wheel travel"),
    )
    for row, part in enumerate(("body", "wheel"), start=1):
        for name, travel, colour in (("controller off", off, OFF), ("controller on", on, ON)):
            figure.add_trace(_trace(graph_objects, travel, part, name, colour, legend=row == 1), row=row, col=1)
    figure.add_trace(_trace(graph_objects, on, "road", "road", ROAD, legend=True, dash="dot"), row=2, col=1)
    figure.update_yaxes(title_text="mm")
    figure.update_xaxes(title_text="simulated time, s", row=2, col=1)
    line = " · ".join(f"{name} {value}" for name, value in facts.items())
    figure.update_layout(
        template="plotly_white",
        title={"text": f"Quarter-car suspension, closed loop<br><sup>{line}</sup>"},
        hovermode="x unified",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.03, "xanchor": "right", "x": 1},
        height=760,
        margin={"t": 110},
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    figure.write_html(to, include_plotlyjs=True, full_html=True, config={"displaylogo": False})
    return to


def _trace(shapes: Any, travel: Travel, part: str, name: str, colour: str, *, legend: bool, dash: str = "solid") -> Any:
    every = max(len(travel.seconds) // MAX_POINTS, 1)
    return shapes.Scatter(
        x=np.round(travel.seconds[::every], 4),
        y=np.round(getattr(travel, part)[::every] * 1e3, 3),
        name=name,
        legendgroup=name,
        showlegend=legend,
        line={"color": colour, "width": 1.6, "dash": dash},
    )
