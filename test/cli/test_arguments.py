"""name=value."""

import pytest

from sim_node.cli.arguments import assignments
from sim_node.errors import SimNodeError


def test_values_are_json_where_they_parse():
    texts = ["a=1", "b=2e4", "c=true", "d=[0, 1]", "e=words", "f=x=y", "g="]
    assert assignments(texts, "--param") == {
        "a": 1, "b": 2e4, "c": True, "d": [0, 1], "e": "words", "f": "x=y", "g": "",
    }  # fmt: skip


@pytest.mark.parametrize("texts", [["a"], ["=1"], ["a b=1"], ["a=1", "a=2"]])
def test_what_is_no_assignment_is_refused(texts):
    with pytest.raises(SimNodeError, match="--param"):
        assignments(texts, "--param")
