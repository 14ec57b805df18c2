import os

from sim_node.bridge import Publisher, Subscriber, rings
from sim_node.bridge.inventory import InputInfo, ReaderInfo, WriterInfo
from sim_node.bridge.transports import posix_shm


def test_rings_are_listed_with_owner_and_leases(states, name):
    with Publisher(states, name=name, slots=5) as publisher, Subscriber(name) as subscriber:
        publisher.next().commit(0, 0)
        with subscriber.next():
            (info,) = [info for info in rings() if info.name == name]
        assert (info.owner_pid, info.alive, info.generation) == (os.getpid(), True, publisher.generation)
        assert (info.slots, info.leases, info.transport, info.problem) == (5, 1, "posix_shm", "")
        assert (info.step, info.dropped, info.copies_per_tick, info.inputs) == (0, 0, 0.0, ())
        assert info.age_ns > 0
        (reader,) = info.readers
        assert reader == ReaderInfo(
            os.getpid(), True, 1, step=0, taken=1, skipped=0, lost=0, revoked=0, uid=os.geteuid()
        )
    assert name not in {info.name for info in rings()}


def test_inputs_are_listed_with_their_writers_and_who_is_in_charge(states, inputs, name):
    def listed():
        (info,) = [info for info in rings() if info.name == name]
        return info.inputs

    pid = os.getpid()
    with (
        Publisher(states, inputs, name, exclusive=["force"], silence=2) as publisher,
        Subscriber(name, writer="pilot") as pilot,
        Subscriber(name, writer="autopilot") as autopilot,
    ):
        force, mode = listed()
        assert force == InputInfo("force", True, 2, None, None, None, ())
        pilot.claim("mode", 10)
        autopilot.claim("mode", -3)
        publisher.next().commit(7, 7)
        with pilot.next():
            pilot.send("mode", 1)
        autopilot.send("mode", 2)
        publisher.take("mode")
        publisher.next().commit(8, 8)
        _, mode = listed()
        assert (mode.exclusive, mode.step, mode.answers, mode.charge) == (False, 8, 7, mode.writers[0])
        assert mode.age_ns > 0
        assert mode.writers == (
            WriterInfo(pid, True, "pilot", 10, sent=1, applied=1, in_charge=True),
            WriterInfo(pid, True, "autopilot", -3, sent=1, applied=0, in_charge=False),
        )
        for step in (9, 10):
            autopilot.send("mode", 3)
            publisher.take("mode")
            publisher.next().commit(step, step)
        _, mode = listed()
        assert (mode.step, mode.answers, mode.charge.name) == (10, None, "autopilot")
        autopilot.leave("mode")
        _, mode = listed()
        assert (mode.charge, [writer.name for writer in mode.writers]) == (None, ["pilot"])


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
