import pytest

from sim_node.bridge.name import LONGEST, ring_name
from sim_node.errors import RingError


@pytest.mark.parametrize(
    ("node", "ring"),
    [
        ("plant", "plant"),
        ("/plant", "plant"),
        ("/arm/plant", "arm.plant"),
        ("arm.plant", "arm.plant"),
        ("_a-1", "_a-1"),
    ],
)
def test_a_node_name_becomes_a_ring_name(node, ring):
    assert ring_name(node) == ring


@pytest.mark.parametrize(
    "node", ["", "/", "//plant", "a//b", "plant/", ".", "../x", "a/..", "-a", "a b", "ä", "a\0b", "a\n"]
)
def test_other_names_are_refused(node):
    with pytest.raises(RingError, match="is not a name for a ring"):
        ring_name(node)


def test_a_name_is_no_longer_than_a_file_name_may_be():
    assert ring_name("a" * LONGEST)
    with pytest.raises(RingError, match=f"at most {LONGEST} characters, not {LONGEST + 1}"):
        ring_name("a" * (LONGEST + 1))
