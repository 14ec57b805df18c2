"""Variables have one type each, and say so; test_places.py and test_results.py read and assign them."""

import pytest

from sim_node.errors import BuildNameError, BuildTypeError


@pytest.mark.parametrize(
    ("body", "family", "what"),
    [
        ("if flag:\n    t = n, s\nx[0] = ¦t[1]", BuildNameError, "'t[0]' may be unassigned here"),
        ("t = n, (s, s)\nt = n, ¦s", BuildTypeError, "'t[1]' stands for a tuple of 2 since line 3, and not for f32"),
        ("t = n, s\nt = n, ¦n", BuildTypeError, "'t[1]' has its type since line 3: it is f32, not i32"),
    ],
)  # fmt: skip
def test_refused(refusal, body, family, what):
    refusal(body, family, what, " ")
