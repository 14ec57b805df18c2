"""A soak of seconds, with deaths to match, finds nothing; and what it would find ends it with 1."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from sim_node.bridge.transports import posix_shm


@pytest.fixture
def soak(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    import soak

    return soak


def test_readers_and_producers_die_and_nothing_is_torn_or_left(soak):
    figures = soak.soak(0.15, second=0.5, minute=3.0)
    assert soak.good(figures), figures
    assert figures["killed_producers"] >= 2
    assert figures["followed"] == soak.STAY * figures["killed_producers"]
    assert figures["killed_readers"] >= 2 * soak.KILLED
    assert figures["ticks"] > 0
    assert figures["largest_start_ms"] > 0
    assert not list(posix_shm.FOLDER.glob(f"*soak.{os.getpid()}*"))


@pytest.mark.parametrize("wrong", ["torn", "stood_still", "segments", "descriptors", "maps", "grown_kib"])
def test_each_fault_is_one(soak, wrong):
    figures = {
        "torn": 0,
        "stood_still": 0,
        "entries_left": 0,
        "grown_kib": 0,
        "taken": 1,
        "left": {"segments": 0, "descriptors": 0, "maps": 0},
    }
    assert soak.good(figures)
    (figures["left"] if wrong in figures["left"] else figures)[wrong] = 1 << 20
    assert not soak.good(figures)


def test_a_torn_slot_is_counted(soak, monkeypatch):
    class Torn:
        """A subscriber that shows two ticks in one slot, and then its ring is gone."""

        generation, left = 1, 3

        def __init__(self, *_, **__):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def next(self, timeout):
            self.left -= 1
            if not self.left:
                raise KeyboardInterrupt
            return self

        def __getitem__(self, name):
            return np.array([self.step, self.step + 1])

        step, skipped = 4, 0

        def statistics(self):
            return {"lost": 0}

    monkeypatch.setattr(soak, "Subscriber", Torn)
    counts = np.zeros(16, np.int64)
    with pytest.raises(KeyboardInterrupt):
        soak.read("x", 1, counts)
    assert counts[soak.TORN] == counts[soak.TAKEN] == 2


def test_figures_are_saved_with_the_machine(soak, monkeypatch, tmp_path, capsys):
    figures = {
        "torn": 1,
        "stood_still": 0,
        "entries_left": 0,
        "grown_kib": 0,
        "taken": 1,
        "left": {"segments": 0},
    }
    monkeypatch.setattr(soak, "soak", lambda minutes, seed: figures)
    monkeypatch.setattr(sys, "argv", ["soak.py", "--minutes", "1", "--save", str(tmp_path)])
    assert soak.main() == 1
    saved = json.loads((tmp_path / "soak.json").read_text())
    assert saved["figures"]["torn"] == 1
    assert saved["machine"]["cores"] > 0
    assert json.loads(capsys.readouterr().out) == saved
