import os

import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.bridge.transports import shared
from sim_node.errors import RingError
from sim_node.layout import Layout

STATES = Layout.of([("x", dtypes.float64, (10,), "m")])


@pytest.mark.parametrize("transport", list(shared.SHARED))
def test_a_ring_is_found_by_its_name_alone(name, transport):
    assert shared.find(name) is None
    with Publisher(STATES, name=name, transport=transport) as publisher:
        (found,) = shared.find_all(name)
        assert (found.transport, found.name, found.ring.owner_pid) == (transport, name, os.getpid())
        assert shared.find(name).ring.generation == publisher.generation
        shared.remove(publisher.segment)
        assert shared.find(name) is None


def test_an_unknown_transport_is_refused(name):
    with pytest.raises(RingError, match="processes share a ring by one of 'posix_shm', 'memfd', not 'pigeon'"):
        Publisher(STATES, name=name, transport="pigeon")
