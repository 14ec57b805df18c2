"""Trace files as a viewer reads them: events checked against the "Trace Event Format", times in whole nanoseconds."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

Event = dict[str, Any]
META = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index"}


def opened(path: Path) -> list[Event]:
    """The events of a file, complete or as a killed process left it: without the ``]``, its last line perhaps torn.

    Fails where an event lacks what its phase asks for, or spans of a track overlap without one being inside the other.
    """
    text = path.read_text()
    assert text.startswith("[\n")
    events: list[Event]
    try:
        events = json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError:
        whole = text if text.endswith("}") else text[: text.rindex(",\n")]
        events = json.loads(f"{whole}]", parse_float=Decimal)
    for event in events:
        _check(event)
    for track in {event["tid"] for event in events if event["ph"] == "X"}:
        _check_nesting([event for event in spans(events) if event["tid"] == track])
    return events


def spans(events: list[Event]) -> list[Event]:
    """The events that last."""
    return [event for event in events if event["ph"] == "X"]


def tracks(events: list[Event]) -> dict[str, int]:
    """Names of tracks and their numbers, in the order of the file."""
    return {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}


def named(events: list[Event], name: str, track: int | None = None) -> list[Event]:
    """The spans of that name, on any track or one, in the order of the file."""
    return [event for event in spans(events) if event["name"] == name and track in (None, event["tid"])]


def inside(events: list[Event], outer: Event) -> list[Event]:
    """The spans that lie inside that one."""
    within = (event for event in spans(events) if event is not outer)
    return [event for event in within if outer["begin"] <= event["begin"] and event["end"] <= outer["end"]]


def _check(event: Event) -> None:
    """Check one event; a span gets its ``begin`` and ``end`` in ns."""
    phase = event["ph"]
    assert isinstance(event["name"], str)
    assert isinstance(event["pid"], int)
    assert set(event) <= {"name", "ph", "pid", "tid", "ts", "dur", "s", "args"}
    assert isinstance(event.get("args", {}), dict)
    if phase == "M":
        assert META[event["name"]] in event["args"]
        return
    assert isinstance(event["tid"], int)
    event["begin"] = _ns(event["ts"])
    if phase == "i":
        assert event["s"] == "t"
        return
    assert phase == "X"
    assert event["dur"] >= 0
    event["end"] = event["begin"] + _ns(event["dur"])


def _ns(micro: Any) -> int:
    exact = Decimal(micro) * 1000
    assert exact == int(exact)
    return int(exact)


def _check_nesting(events: list[Event]) -> None:
    """Spans of a track may lie one behind the other or one inside the other: viewers drop what overlaps otherwise."""
    open_ends: list[int] = []
    for event in sorted(events, key=lambda event: (event["begin"], -event["end"])):
        while open_ends and open_ends[-1] <= event["begin"]:
            open_ends.pop()
        assert not open_ends or event["end"] <= open_ends[-1], event
        open_ends.append(event["end"])
