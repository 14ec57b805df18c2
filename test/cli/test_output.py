"""Outcomes become one JSON object or tables."""

import json

import numpy as np

from sim_node.cli.output import Outcome, Table, plain, show


def test_values_that_json_lacks_are_written_as_what_people_read():
    value = {
        "a": np.float32(1.5),
        2: (np.uint64(2**63), float("nan")),
        "c": np.arange(2),
        "d": None,
        "e": float("-inf"),
    }
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == {
        "a": 1.5, "2": [2**63, "nan"], "c": [0, 1], "d": None, "e": "-inf",
    }  # fmt: skip


def test_an_error_is_on_stderr_and_in_the_object(capsys):
    outcome = Outcome({"ticks": 3}, exit_code=2, error="no good", warnings=["beware"])
    assert show(outcome, as_json=True) == 2
    said = capsys.readouterr()
    assert json.loads(said.out) == {"ticks": 3, "error": "no good"}
    assert said.err == "sim-node: warning: beware\nsim-node: error: no good\n"


def test_cells_are_not_read_as_markup(capsys):
    show(Outcome({}, [Table("t", ("a", "b"), [("[red]x[/red]", None)])]), as_json=False)
    assert "[red]x[/red]" in capsys.readouterr().out
