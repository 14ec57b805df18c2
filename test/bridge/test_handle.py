"""A handle opens the life of the ring that it was made of, and no other."""

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sim_node import dtypes
from sim_node.bridge import Handle, Publisher, Subscriber, handle
from sim_node.errors import RingError
from sim_node.layout import Layout

LAYOUT = Layout.of([("x", dtypes.int64, (5,), "m")])


def message_of(publisher):
    """What a node announces."""
    ring = publisher.ring
    return SimpleNamespace(
        transport=publisher.transport,
        segment=publisher.name,
        generation=ring.generation,
        owner_pid=ring.owner_pid,
        owner_start=ring.owner_start,
        owner_uid=ring.owner_uid,
        boot_id=handle._BOOT.read_text().strip(),
        slots=ring.slots,
        layout_digest=publisher.layout.digest,
    )


@pytest.fixture
def name(request):
    return f"test_{os.getpid()}_{request.node.originalname}"


@pytest.fixture
def publisher(name):
    with Publisher(LAYOUT, name=name) as made:
        made.next().commit(1, 1)
        yield made


def test_a_handle_opens_its_ring(publisher):
    with Subscriber(Handle.of(message_of(publisher))) as subscriber, subscriber.next() as tick:
        assert tick.step == 1
        assert subscriber.generation == publisher.generation


def test_a_subscriber_by_handle_goes_on_with_the_next_life(publisher, name):
    with Subscriber(Handle.of(message_of(publisher))) as subscriber:
        subscriber.next().release()
        publisher.close()
        with Publisher(LAYOUT, name=name) as second:
            second.next().commit(5, 5)
            assert subscriber.next().step == 5


def test_a_replayed_handle_is_refused_by_generation(publisher, name):
    old = Handle.of(message_of(publisher))
    publisher.close()
    with pytest.raises(RingError, match=rf"the ring '{name}' of this handle is gone; .*~/ring, none of a bag"):
        Subscriber(old)
    with Publisher(LAYOUT, name=name) as second:
        told = f"is another one by now: generation {second.generation}, not {old.generation};"
        with pytest.raises(RingError, match=told):
            Subscriber(old)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"owner_pid": 1}, r"owner_pid \d+, not 1;"),
        ({"owner_start": 17}, r"owner_start \d+, not 17;"),
        ({"slots": 9}, "slots 4, not 9;"),
        ({"layout_digest": "0" * 64}, "layout_digest [0-9a-f]{64}, not 0{64};"),
        ({"boot_id": "another"}, "is of another host, or of before this one was started again"),
        ({"owner_uid": 123456}, r"owner_uid \d+, not 123456;"),
        ({"transport": "in_process"}, "has the transport 'in_process'; what another process opens is posix_shm"),
        ({"name": "nowhere"}, "'nowhere' of this handle is gone"),
    ],
)
def test_a_handle_of_another_life_is_refused(publisher, change, told):
    with pytest.raises(RingError, match=told):
        replace(Handle.of(message_of(publisher)), **change).find()


@pytest.mark.parametrize(
    ("member", "value", "told"),
    [
        ("generation", -1, "a ring's generation is a number below 2^64, not -1"),
        ("owner_pid", 1 << 22, "a ring's owner_pid is a number below 2^22"),
        ("owner_start", "soon", "this is no message of a ring: its owner_start is 'soon'"),
        ("slots", True, "its slots is True"),
        ("layout_digest", "x" * 200, "a ring's layout_digest is a SHA-256 in hex, not 'x"),
        ("segment", "../../etc/passwd", "is not a name for a ring"),
        ("transport", None, "its transport is None"),
    ],
)
def test_a_message_that_no_ring_can_have_sent_is_refused(publisher, member, value, told):
    message = message_of(publisher)
    setattr(message, member, value)
    with pytest.raises(RingError) as refused:
        Handle.of(message)
    assert told in str(refused.value)
    delattr(message, member)
    with pytest.raises(RingError, match=f"its {member} is None"):
        Handle.of(message)
