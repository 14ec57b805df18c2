from itertools import pairwise

import numpy as np
import pytest

from sim_node._native import LANES
from sim_node.bridge import Publisher
from sim_node.bridge.segment import require_memory
from sim_node.errors import RingError


def test_slots_and_mailboxes_are_viewed_where_they_lie(states, inputs):
    with Publisher(states, inputs) as publisher:
        memory = np.frombuffer(publisher.segment.memory, "u1")
        spans = []
        for slot in range(6):
            views = publisher.segment.slot(states, slot, writable=True)
            assert [views[field.name].shape for field in states] == [field.numpy_shape for field in states]
            spans += [(views[field.name].ctypes.data, field.nbytes) for field in states]
        for index, field in enumerate(inputs):
            for lane in range(LANES):
                spans += [(view.ctypes.data, field.nbytes) for view in publisher.segment.lane(field, index, lane)]
        spans.sort()
        assert all(low + length <= start for (low, length), (start, _) in pairwise(spans))  # none overlaps
        assert memory.ctypes.data < spans[0][0]
        assert sum(spans[-1]) <= memory.ctypes.data + memory.size


def test_views_of_a_reader_cannot_be_written(states):
    with Publisher(states) as publisher:
        views = publisher.segment.slot(states, 0, writable=False)
        assert not any(view.flags.writeable for view in views.values())


def test_more_memory_than_is_free_is_refused():
    require_memory(4096, "small")
    with pytest.raises(
        RingError, match=rf"ring 'vast' needs {2**60} bytes and this machine has \d+ bytes of memory free"
    ):
        require_memory(2**60, "vast")
