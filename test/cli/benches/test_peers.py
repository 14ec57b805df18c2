"""Peers that cannot run are named with what they said."""

from sim_node.cli.benches.measurement import Measurement
from sim_node.cli.benches.peers import started


def _missing():
    raise ModuleNotFoundError("No module named 'elsewhere'")


def _broken():
    raise RuntimeError("the linker\n  is too old")


def test_who_starts_is_given_and_who_does_not_is_absent():
    result = Measurement("x")
    assert started({"a": lambda: ("1.2", len), "b": _missing, "c": _broken}, result) == {"a": len}
    assert result.peers == {
        "a": {"version": "1.2"},
        "b": {"absent": "ModuleNotFoundError: No module named 'elsewhere'"},
        "c": {"absent": "RuntimeError: the linker is too old"},
    }
