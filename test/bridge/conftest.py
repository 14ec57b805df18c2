import os

import pytest
from gpu_fields import Started

from sim_node import dtypes
from sim_node.bridge.transports import posix_shm
from sim_node.layout import Layout


@pytest.fixture
def states():
    return Layout.of(
        [("position", dtypes.vec3, (4,), "m"), ("level", dtypes.float64, (), ""), ("on", dtypes.bool_, (3,), "")]
    )


@pytest.fixture
def inputs():
    return Layout.of([("force", dtypes.vec3, (4,), "N"), ("mode", dtypes.int32, (), "")])


@pytest.fixture
def name(request):
    """The name of a ring that must be gone at the end."""
    given = f"test_{os.getpid()}_{request.node.originalname}"[:150]
    yield given
    assert not posix_shm.path_of(given).exists()


@pytest.fixture
def start(name):
    """Start processes whose GPU is the machine's or simulated, with the ring's name as argument (gpu_fields.py)."""
    started = Started(name)
    yield started
    started.end()
