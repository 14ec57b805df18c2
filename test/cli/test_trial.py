"""The trial kernel finds a compiler that computes wrongly."""

import pytest

import sim_node as sn
from sim_node.cli.trial import run_trial
from sim_node.errors import SimNodeError


def test_a_launch_that_computes_as_python_passes():
    run_trial()


def test_a_launch_that_does_nothing_is_found(monkeypatch):
    monkeypatch.setattr(sn, "launch", lambda *arguments, **options: None, raising=False)
    with pytest.raises(SimNodeError, match="element 1 is"):
        run_trial()
