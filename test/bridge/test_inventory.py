import os

from sim_node.bridge import Publisher, Subscriber, rings
from sim_node.bridge.transports import posix_shm


def test_rings_are_listed_with_owner_and_leases(states, name):
    with Publisher(states, name=name, slots=5) as publisher, Subscriber(name) as subscriber:
        publisher.next().commit(0, 0)
        with subscriber.next():
            (info,) = [info for info in rings() if info.name == name]
        assert (info.owner_pid, info.alive, info.generation) == (os.getpid(), True, publisher.generation)
        assert (info.slots, info.leases, info.readers, info.transport, info.problem) == (5, 1, 1, "posix_shm", "")
    assert name not in {info.name for info in rings()}


def test_what_cannot_be_read_is_listed_with_the_reason(name):
    mine = posix_shm.path_of(name)
    other = mine.with_name(f"sim_node.{os.geteuid() + 1}.{name}")
    for path in (mine, other):
        path.write_bytes(b"no ring")
    try:
        problems = [info.problem for info in rings() if info.name == name]
    finally:
        mine.unlink()
        other.unlink()
    assert any("cannot be read: it is shorter than a control block" in problem for problem in problems)
    assert any("another user's" in problem for problem in problems)
