"""Plots over simulated time, as plotly draws them: the one way in which fields become pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.layout import Field
from sim_node.replay.history import History

POINTS = 4000  # of a curve; more than a screen shows, few enough to drag with the mouse
CURVES = 8  # of a panel; of a field with more elements the first are shown
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")
PANEL_HEIGHT, MARGIN = 240, 110  # pixels


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over seconds, (n,) each; curves of one name have one colour and one place in the legend ('': none)."""

    name: str
    seconds: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]
    colour: str = ""
    dash: str = "solid"


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves over each other, with a title and the unit of their values."""

    title: str
    unit: str
    curves: Sequence[Curve]


def panels(history: History, fields: Iterable[Field]) -> list[Panel]:
    """Make a panel of each field that the history holds, a curve an element, of the first ``CURVES``."""
    found = []
    for field in fields:
        if field.name not in history.values or not field.nbytes:
            continue
        rows = history.values[field.name]
        shape, flat = rows.shape[1:], rows.reshape(len(rows), field.count * field.element.length)
        curves = []
        for number in range(min(flat.shape[1], CURVES)):
            at = [int(i) for i in np.unravel_index(number, shape)]
            curves.append(Curve(str(at) if at else "", history.seconds, flat[:, number]))
        more = flat.shape[1] - len(curves)
        title = f"{field.name} (the first {len(curves)} of {len(curves) + more})" if more else field.name
        found.append(Panel(title, field.unit, curves))
    return found


def figure(shown: Sequence[Panel]) -> Any:
    """Draw panels above each other over one axis of simulated time; returns plotly's figure."""
    from plotly import graph_objects
    from plotly.subplots import make_subplots

    height = PANEL_HEIGHT * len(shown) + MARGIN
    drawn = make_subplots(
        rows=len(shown),
        cols=1,
        shared_xaxes=True,
        vertical_spacing=min(60 / height, 0.9 / len(shown)),
        subplot_titles=[panel.title for panel in shown],
    )
    names: dict[str, str] = {}
    for row, panel in enumerate(shown, start=1):
        for curve in panel.curves:
            known = curve.name in names
            colour = names.setdefault(curve.name, curve.colour or COLOURS[len(names) % len(COLOURS)])
            seconds, values = thinned(curve.seconds, curve.values)
            trace = graph_objects.Scatter(
                x=seconds,
                y=values,
                name=curve.name,
                legendgroup=curve.name,
                showlegend=bool(curve.name) and not known,
                line={"color": colour, "width": 1.6, "dash": curve.dash},
            )
            drawn.add_trace(trace, row=row, col=1)
        drawn.update_yaxes(title_text=panel.unit, row=row, col=1)
    drawn.update_xaxes(title_text="simulated time, s", row=len(shown), col=1)
    drawn.update_layout(
        template="plotly_white",
        hovermode="x unified",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1 + 30 / height, "xanchor": "right", "x": 1},
        height=height,
        margin={"t": 80},
    )
    return drawn


# What ``Distribution.filled`` gives: least value and count of each bucket that holds something, (n,) each.
Buckets = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def bars(distributions: Mapping[str, Buckets], unit: str, scale: float) -> Any:
    """Draw how quantities are distributed, each value ``scale`` of the unit; returns plotly's figure.

    Buckets are put together in steps of a tenth of a decade; what is less than one stands with the ones.
    """
    from plotly import graph_objects

    drawn = graph_objects.Figure()
    for name, (edges, counts) in distributions.items():
        decades = np.round(np.log10(np.maximum(edges.astype(float), 1.0) * scale), 1)
        steps, belongs = np.unique(decades, return_inverse=True)
        drawn.add_trace(graph_objects.Bar(x=steps, y=np.bincount(belongs, weights=counts), name=name))
    powers = range(-9, 13)
    ticks = {"tickvals": list(powers), "ticktext": [f"{10.0**power:g}" for power in powers]}
    drawn.update_xaxes(title_text=unit, **ticks)  # not plotly's own logarithm, on which bars have no width
    drawn.update_yaxes(title_text="ticks")
    drawn.update_layout(template="plotly_white", height=PANEL_HEIGHT + MARGIN, margin={"t": 30}, barmode="group")
    return drawn


def thinned(
    seconds: np.ndarray[Any, Any], values: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Leave out points that a screen cannot show, and no peak: of each stretch its least and greatest value stay."""
    count = len(values)
    if count <= POINTS:
        return seconds, values
    stretch = -(-count * 2 // POINTS)
    whole = count // stretch * stretch
    rows = values[:whole].reshape(-1, stretch)
    starts = np.arange(len(rows)) * stretch
    kept = np.concatenate([starts + rows.argmin(axis=1), starts + rows.argmax(axis=1), [0], np.arange(whole, count)])
    kept = np.unique(kept)
    return seconds[kept], values[kept]
