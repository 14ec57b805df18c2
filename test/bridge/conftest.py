import os

import pytest
from gpu_fields import Started

from sim_node import dtypes
from sim_node.bridge.transports import posix_shm
from sim_node.device.sharing import TRANSPORTS
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


@pytest.fixture(params=TRANSPORTS[1:])
def transport(request):
    """How other processes get fields on a GPU: each of the ways."""
    return request.param


@pytest.fixture
def start(name, transport):
    """Start processes whose GPU is the machine's or simulated, for that ring and transport (gpu_fields.py)."""
    started = Started(name, transport)
    yield started
    started.end()
