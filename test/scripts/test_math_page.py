import pytest

pytest.importorskip("mpmath", reason="coefficients are derived with mpmath")

from scripts import math_page


def test_the_page_is_what_the_script_writes():
    assert math_page.PAGE.read_text("utf-8") == math_page.page()
