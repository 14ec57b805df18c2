"""The fuzzer of rings finds nothing in a fixed budget, and would tell what it finds."""

from random import Random

import pytest

ROUNDS = 1500


@pytest.fixture
def fuzz_ring(monkeypatch):
    from pathlib import Path

    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    import fuzz_ring

    return fuzz_ring


def test_damaged_layouts_are_refused_or_harmless(fuzz_ring):
    found = fuzz_ring.layouts(ROUNDS, Random(1))
    assert sum(found.values()) == ROUNDS
    assert min(found["refused"], found["taken"]) > ROUNDS // 50


def test_damaged_handles_are_refused(fuzz_ring):
    found = fuzz_ring.handles(ROUNDS, Random(1))
    assert sum(found.values()) == ROUNDS
    assert min(found["refused"], found["taken"]) > ROUNDS // 50


def test_segments_are_tried_in_c(fuzz_ring):
    found = fuzz_ring.segments(2000, 1)
    assert found["rounds"] == 2000
    assert found["changed"]["refused"] > 0


def test_a_fault_is_told(fuzz_ring, monkeypatch):
    def crash(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(fuzz_ring, "Subscriber", crash)
    with pytest.raises(ZeroDivisionError):
        fuzz_ring.layouts(1, Random(1))
    monkeypatch.setattr(fuzz_ring.Handle, "of", lambda message: message)
    monkeypatch.setattr(fuzz_ring, "Subscriber", lambda handle: fuzz_ring.SimpleNamespace(close=lambda: None))
    with pytest.raises(RuntimeError, match="a handle of another life was taken"):
        fuzz_ring.handles(50, Random(1))
    with pytest.raises(RuntimeError, match=r"(?s)seed 1: exit code 1\n.*not true"):
        fuzz_ring.segments(0, 1)
