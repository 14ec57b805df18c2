"""What a ring tells of fields on a GPU is read back the same, and refused where it is malformed or of another life."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node._native import SPARES, Ring
from sim_node.bridge import Publisher
from sim_node.bridge.offer import HANDLE_BYTES, Offer, namespace
from sim_node.errors import RingError
from sim_node.layout import Layout

LAYOUT = Layout.of([("x", dtypes.vec3, (5,), "m"), ("y", dtypes.float64, (2, 3), "")])
SLOTS = 4


@pytest.fixture(scope="module")
def ring():
    with Publisher(Layout((), 0), slots=SLOTS) as publisher:
        yield publisher.ring


def offered(ring, **changes):
    handle = bytes(range(HANDLE_BYTES))
    offer = Offer(
        "cuda_ipc", "asked for", ring.generation, ring.owner_pid, ring.owner_start, ring.owner_uid, namespace("ipc"),
        namespace("net"), "GPU-1", "A GPU", "13000", LAYOUT, 256, 512, 1 << 20, handle, (handle,) * (SLOTS + SPARES),
    )  # fmt: skip
    return replace(offer, **changes)


def test_it_is_read_back_the_same_whatever_the_generation(ring):
    offer = offered(ring)
    assert Offer.parse(offer.text().encode(), ring) == offer
    assert len(replace(offer, generation=0).text()) == len(replace(offer, generation=2**64 - 1).text())
    bare = replace(offer, events=())
    assert Offer.parse(bare.text().encode(), ring) == bare
    assert (ring.owner_pid, ring.owner_start) == Ring.life()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"generation": 77}, "its generation is 77, the ring's 1"),
        ({"pid": 1}, "its owner's pid is 1, the ring's"),
        ({"start": 1}, "its owner's start time is 1, the ring's"),
        ({"uid": 12345}, "its owner's uid is 12345, the ring's"),
    ],
)
def test_a_handle_of_another_life_is_refused(ring, changes, message):
    with pytest.raises(RingError, match=f"is of another life of the ring: {message}"):
        Offer.parse(offered(ring, **changes).text().encode(), ring)


@pytest.mark.parametrize(
    "changes",
    [
        {"stride": 255}, {"stride": 0}, {"offset": 1}, {"nbytes": 2047}, {"nbytes": 1 << 60}, {"offset": 1 << 20},
        {"stride": 1 << 40}, {"offset": -256}, {"stride": True}, {"events": (bytes(HANDLE_BYTES),)}, {"uuid": 3},
        {"events": (bytes(3),) * (SLOTS + SPARES)}, {"pid": 1.5}, {"transport": None}, {"ipc_namespace": 1 << 70},
        {"memory": b"short"}, {"why": 1}, {"net_namespace": -1},
    ],
)  # fmt: skip
def test_sizes_that_do_not_fit_are_refused(ring, changes):
    with pytest.raises(RingError, match="what cannot be read"):
        Offer.parse(offered(ring, **changes).text().encode(), ring)


@given(st.data())
def test_damage_is_told_and_nothing_else_happens(ring, data):
    text = offered(ring).text()
    body = json.loads(text)
    if data.draw(st.booleans()):
        name = data.draw(st.sampled_from(sorted(body)))
        if data.draw(st.booleans()):
            del body[name]
        else:
            body[name] = data.draw(st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.floats())
        damaged = json.dumps(body).encode()
    else:
        raw = bytearray(text.encode())
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        damaged = bytes(raw)
    try:
        read = Offer.parse(damaged, ring)
    except RingError:
        return
    assert read.offset + (SLOTS + SPARES) * read.stride <= read.nbytes
    assert len(read.memory) == HANDLE_BYTES
