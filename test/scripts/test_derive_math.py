import pytest

pytest.importorskip("mpmath", reason="coefficients are derived with mpmath")

from scripts import derive_math


def test_the_coefficients_are_what_the_script_writes():
    assert derive_math.TABLE.read_text("utf-8") == derive_math.table()


def test_an_approximation_knows_its_error():
    square = derive_math.Approximation(2, 0, 1, lambda x: x * x, lambda x: 1)
    assert square.error() < 1e-15
    line = derive_math.Approximation(1, 0, 1, lambda x: x * x, lambda x: 2)
    assert line.error() == pytest.approx(0.25, abs=0.01)
