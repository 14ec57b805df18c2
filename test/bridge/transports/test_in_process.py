from sim_node import dtypes
from sim_node.bridge import Publisher, rings
from sim_node.layout import Layout

STATES = Layout.of([("x", dtypes.float64, (10,), "m")])


def test_a_ring_without_a_name_has_no_file():
    with Publisher(STATES) as first, Publisher(STATES) as second:
        assert first.transport == second.transport == "in_process"
        assert first.ring.owner_pid == second.ring.owner_pid
        assert not any(info.name == first.name for info in rings())
        first.next()["x"][:] = 1
        assert (second.next()["x"] == 0).all()
