"""A handle opens the life of the ring that it was made of, and no other."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sim_node import dtypes
from sim_node.bridge import Handle, Publisher, Subscriber, handle
from sim_node.bridge.transports import posix_shm
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
        boot_id=handle.boot_id(),
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
    with pytest.raises(RingError, match=rf"the ring '{name}' is gone; .*~/ring, none of a bag"):
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
        ({"owner_uid": 123456}, r"is of uid 123456, this process of .*, and there is none for a group of both;"),
        ({"transport": "in_process"}, "has the transport 'in_process'; what another process opens is posix_shm"),
        ({"name": "nowhere"}, "the ring 'nowhere' is gone"),
    ],
)
def test_a_handle_of_another_life_is_refused(publisher, change, told):
    with pytest.raises(RingError, match=told):
        replace(Handle.of(message_of(publisher)), **change).find()


def test_the_ring_of_a_group_is_found_behind_one_of_its_name(name):
    with Publisher(LAYOUT, name=name, group=str(os.getegid())) as shared, Publisher(LAYOUT, name=name) as own:
        for each in (own, shared):
            assert Handle.of(message_of(each)).find().ring.generation == each.generation


def run(program, *arguments):
    """Run a Python program, whose exit status is its own affair."""
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


MEMBER = """
import json, os, sys
from types import SimpleNamespace
from sim_node import dtypes
from sim_node.bridge import Handle, Publisher, Subscriber
from sim_node.layout import Layout
message, group = SimpleNamespace(**json.loads(sys.argv[1])), int(sys.argv[2])
os.setgroups([group])
os.setgid(65534)
os.setuid(65534)
with Publisher(Layout.of([("y", dtypes.int64, (), "m")]), name=message.segment):  # a reader by name finds this one
    with Subscriber(Handle.of(message)) as subscriber, subscriber.next(timeout=30) as tick:
        print(tick["x"].shape)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_another_user_of_the_group_opens_a_handle_and_a_stranger_does_not(name):
    with Publisher(LAYOUT, name=name, group="54321") as publisher:
        publisher.next().commit(1, 1)
        message = json.dumps(vars(message_of(publisher)))
        member, stranger = run(MEMBER, message, "54321"), run(MEMBER, message, "54322")
    assert member.stdout == "(5,)\n", member.stderr
    told = rf"the ring '{name}' is of .*\(uid 0\), this process of .*, and there is none for a group of both;"
    assert re.search(told, stranger.stderr)


KILLED = """
import json, os, sys
sys.path.insert(0, sys.argv[2])
from test_handle import LAYOUT, Publisher, message_of
publisher = Publisher(LAYOUT, name=sys.argv[1])
print(json.dumps(vars(message_of(publisher))), flush=True)
os._exit(0)
"""


def test_the_handle_of_a_dead_producer_is_refused(name):
    message = SimpleNamespace(**json.loads(run(KILLED, name, os.path.dirname(__file__)).stdout))
    with pytest.raises(RingError, match=rf"is over: its producer \(pid {message.owner_pid}\) has ended; "):
        Handle.of(message).find()
    posix_shm.path_of(name).unlink()


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
