import json

import pytest

pytest.importorskip("mpmath", reason="coefficients are derived with mpmath")

from scripts import math_page


def test_the_page_is_what_the_script_writes():
    assert math_page.PAGE.read_text("utf-8") == math_page.page()


def test_what_two_devices_have_in_common_is_told_once_it_was_compared(monkeypatch, tmp_path):
    monkeypatch.setattr(math_page, "BITS", tmp_path / "bits.json")
    assert not list(math_page.devices())
    functions = {
        "exp (f32)": {"inputs": 2**32, "exhaustive": True, "equal": True},
        "sin (f32)": {"inputs": 2**32, "exhaustive": True, "equal": True},
        "+ (i8 i8)": {"inputs": 2**16, "exhaustive": True, "equal": True},
        "pow (f32 f32)": {"inputs": 20971520, "exhaustive": False, "equal": False},
    }
    machine = {"processor": "a processor", "gpu": {"title": "a GPU"}}
    told = {"machine": machine, "devices": ["cpu", "cuda:0"], "functions": functions}
    math_page.BITS.write_text(json.dumps(told))
    text = "".join(math_page.devices())
    assert "a processor and a GPU" in text
    assert text.splitlines()[-3:] == [
        "| 2^32, all | 2 | 0 |",
        "| 2^16, all | 1 | 0 |",
        "| 20971520, random | 1 | 1 |",
    ]
