"""In plain Python a static value is the value."""

import sim_node as sn


def test_static_is_its_value():
    thing = object()
    assert sn.static(thing) is thing
