"""A record gives back what was kept, for the same functions wherever they stand, and refuses anything else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sim_node.compiler.ir.function import Site
from sim_node.compiler.record import Record, RecordError, record
from sim_node.errors import Location


def plant(x: float) -> float:
    return x


FIRST = plant.__code__.co_firstlineno
CALLER = Location(__file__, FIRST + 1, 4, "", "plant")
IN_LIBRARY = Location(str(__import__("sim_node.lang", fromlist=["lang"]).__file__), 1, 0, "", "sin", CALLER)
KEPT = Record("abc", (Site("index", "x", CALLER), Site("index", "y", IN_LIBRARY)), frozenset({"y"}), 2)


def test_it_comes_back() -> None:
    found = record(json.loads(json.dumps(KEPT.as_json([plant]))), [plant])
    assert (found.digest, found.written, found.dims) == ("abc", {"y"}, 2)
    place = found.sites[0].location
    assert place is not None
    assert (place.file, place.line, place.column, place.inside) == (__file__, FIRST + 1, 4, "plant")
    assert place.text == "    return x"
    deep = found.sites[1].location
    assert deep is not None
    assert deep.caller == place


def test_a_place_in_no_function_is_not_kept() -> None:
    away = Record("abc", (Site("index", "x", Location("other.py", 3, 0, "", "f")),), frozenset(), 1)
    with pytest.raises(RecordError, match="in no function"):
        away.as_json([plant])


@pytest.mark.parametrize(
    "change",
    [
        {"digest": 1}, {"dims": 9}, {"dims": "1"}, {"written": [1]}, {"written": None}, {"sites": [["index"]]},
        {"sites": [["index", "x", 7]]}, {"sites": [["index", "x", None]]}, {"sites": [["index", "x", "?"]]},
        {"places": [[7, 1, 4, "f", -1]]}, {"places": [[-1, 1, 4, "f", -1]]}, {"places": [[0, "1", 4, "f", -1]]},
        {"places": [[0, 1, 4, None, -1]]}, {"places": [[0, 1, 4, "f", 0]]}, {"places": [[0, 1, 4, "f"]]},
        {"places": None},
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        record({**KEPT.as_json([plant]), **change}, [plant])


@pytest.mark.parametrize("found", [None, [], {}, "x", {"digest": "abc"}])
def test_what_is_no_table_is_refused(found: Any) -> None:
    with pytest.raises(RecordError):
        record(found, [plant])
