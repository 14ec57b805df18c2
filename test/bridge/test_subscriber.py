import gc
import os
import re
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_node import dtypes
from sim_node._native import Reader
from sim_node.bridge import Publisher, Subscriber
from sim_node.bridge.transports import posix_shm
from sim_node.errors import RingError
from sim_node.layout import Layout

COUNTER = Layout.of([("count", dtypes.int64, (40,), "")])


def publish(publisher, step, **fields):
    with publisher.next() as slot:
        for field, value in fields.items():
            slot[field][...] = value
        slot.commit(step, step * 1000, step + 1)


@pytest.fixture(params=["posix_shm", "memfd", "in_process"])
def pair(request, states, inputs, name):
    """A publisher and a subscriber: every transport keeps the same promises."""
    shared = request.param != "in_process"
    how = {"transport": request.param} if shared else {}
    with (
        Publisher(states, inputs, name if shared else None, **how) as publisher,
        Subscriber(name if shared else publisher) as subscriber,
    ):
        assert publisher.transport == subscriber.transport == request.param
        yield publisher, subscriber


def test_a_tick_shows_the_slot_itself(pair, states, inputs):
    publisher, subscriber = pair
    assert subscriber.layout == states
    assert subscriber.inputs == inputs
    assert subscriber.generation == publisher.generation
    position = np.arange(12, dtype="f4").reshape(4, 3)
    publish(publisher, 5, position=position, level=2.5, on=[True, False, True])
    with subscriber.next() as tick:
        assert (tick.step, tick.stamp_ns, tick.hash, tick.skipped) == (5, 5000, 6, 0)
        assert tick.age_ns > 0
        assert tick.keys() == ["position", "level", "on"]
        np.testing.assert_array_equal(tick["position"], position)
        assert tick["level"] == 2.5
        assert tick["on"].tolist() == [True, False, True]
        assert tick["position"] is tick["position"]
        with pytest.raises(KeyError, match="no field 'speed'; there are"):
            tick["speed"]


def test_views_are_read_only_for_good(pair):
    publisher, subscriber = pair
    publish(publisher, 0)
    with subscriber.next() as tick:
        view = tick["position"]
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.setflags(write=True)


def test_views_lie_in_the_mapping(states, name):
    with Publisher(states, name=name) as publisher, Subscriber(name) as subscriber:
        publish(publisher, 0)
        inode = str(posix_shm.path_of(name).stat().st_ino)
        rows = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
        spans = [tuple(int(end, 16) for end in row[0].split("-")) for row in rows if row[4] == inode]
        assert len(spans) == 2  # the publisher's and the subscriber's
        with subscriber.next() as tick:
            for view in (tick["position"], tick["level"], tick["on"]):
                start = view.ctypes.data
                assert any(low <= start and start + view.nbytes <= high for low, high in spans)


def test_views_outlive_everything(states, name):
    publisher = Publisher(states, name=name)
    subscriber = Subscriber(name)
    publish(publisher, 0, level=7)
    tick = subscriber.next()
    view = tick["level"]
    tick.release()
    subscriber.close()
    publisher.close()
    del tick, subscriber, publisher
    gc.collect()
    assert view == 7


def test_a_released_tick_gives_no_views(pair):
    publisher, subscriber = pair
    publish(publisher, 0)
    with subscriber.next() as tick:
        pass
    with pytest.raises(ValueError, match="released"):
        tick["level"]
    held = subscriber.latest()
    subscriber.close()
    with pytest.raises(ValueError, match="released"):
        held["level"]
    with pytest.raises(ValueError, match="closed"):
        subscriber.next()


def test_latest_does_not_wait(pair):
    publisher, subscriber = pair
    assert subscriber.latest() is None
    publish(publisher, 3)
    for _ in range(2):
        with subscriber.latest() as tick:
            assert tick.step == 3
    assert subscriber.statistics() == {"taken": 1, "skipped": 0, "lost": 0, "revoked": 0, "held": 0, "switches": 0}


def test_only_four_ticks_are_held_at_once(pair):
    publisher, subscriber = pair
    publish(publisher, 0)
    held = [subscriber.latest() for _ in range(4)]
    assert subscriber.statistics()["held"] == 4
    publish(publisher, 1)
    for ask in (subscriber.next, subscriber.latest):
        with pytest.raises(RingError, match=r"4 ticks of ring .* are held"):
            ask()
    del held  # what is forgotten is released
    with subscriber.next() as tick:
        assert tick.step == 1


def test_a_silent_producer_is_told_from_a_closed_one(pair):
    publisher, subscriber = pair
    with pytest.raises(RingError, match=rf"no tick .* within 0.01 s; its producer \(pid {os.getpid()}\) is alive"):
        subscriber.next(timeout=0.01)
    publish(publisher, 1)
    assert not subscriber.ended
    publisher.close()
    assert subscriber.ended
    with subscriber.next(timeout=0.01) as tick:  # what was published is still there
        assert tick.step == 1
    with pytest.raises(RingError, match=rf"\(pid {os.getpid()}\) closed it; waited 0.02 s"):
        subscriber.next(timeout=0.02)


def test_a_lease_that_is_over_is_told_and_never_masks_what_else_went_wrong(states):
    with Publisher(states, slots=2, lease_limit=1e-9) as publisher, Subscriber(publisher) as subscriber:
        publish(publisher, 1, level=1.0)

        def hold(wrong=None):
            with subscriber.next() as tick:
                assert tick.intact
                for step in range(tick.step + 1, tick.step + 5):
                    publish(publisher, step)
                assert not tick.intact
                if wrong is not None:
                    raise wrong

        with pytest.raises(RingError, match="tick 1 was held for longer than leases of this ring last"):
            hold()
        assert subscriber.statistics()["revoked"] == 1
        with pytest.raises(ZeroDivisionError):
            hold(ZeroDivisionError())
        with subscriber.next() as tick:  # the next is as good as any
            assert (tick.step, tick.intact) == (9, True)
        assert subscriber.statistics() | {"revoked": 2, "held": 0} == subscriber.statistics()
    with Publisher(states, slots=2) as publisher, Subscriber(publisher) as subscriber:
        publish(publisher, 1)
        with subscriber.next() as tick:
            for step in range(2, 6):
                publish(publisher, step)
            assert tick.intact
        assert subscriber.statistics()["revoked"] == 0
        assert publisher.ring.dropped > 0


def test_one_that_polls_rehearses_and_takes_nothing_by_it(pair):
    publisher, subscriber = pair
    publish(publisher, 1)
    with subscriber.next():
        pass
    before, views = subscriber.statistics(), tuple({"x": np.zeros(1)} for _ in range(publisher.ring.slots))
    rehearsed = []

    def rehearsal(tick):
        with tick:
            rehearsed.append((tick.keys(), subscriber.statistics()["held"]))
        with pytest.raises(ValueError, match="released"):
            tick["x"]
        if len(rehearsed) == 2:
            publish(publisher, 2)

    reader = Reader(publisher.ring, views, None, rehearsal)
    reader.latest().release()
    with reader.next(60_000_000_000, 60_000_000_000) as tick:
        assert tick.step == 2
    assert rehearsed == [(["x"], 0)] * 2
    assert reader.statistics == (2, 0, 0, 0, 0)
    reader.close()
    with subscriber.next(), pytest.raises(RingError, match="no tick"):
        subscriber.next(timeout=0.01, spin_us=1e4)
    assert subscriber.statistics() == {**before, "taken": before["taken"] + 1}


def test_what_goes_wrong_in_a_rehearsal_is_raised(pair):
    publisher, _ = pair
    reader = Reader(publisher.ring, ({},) * publisher.ring.slots, None, lambda tick: tick["x"])
    with pytest.raises(KeyError, match="no field 'x'"):
        reader.next(60_000_000_000, 60_000_000_000)
    reader.close()


@pytest.mark.parametrize("spin_us", [0, 1e7])
def test_a_commit_wakes_a_waiter(pair, spin_us):
    publisher, subscriber = pair
    taken = []

    def wait():
        for _ in range(50):
            with subscriber.next(timeout=60, spin_us=spin_us) as tick:
                taken.append(tick.step)
                subscriber.send("mode", tick.step)

    waiter = threading.Thread(target=wait)
    waiter.start()
    for step in range(50):
        publish(publisher, step)
        while publisher.take("mode") is None:
            os.sched_yield()
    waiter.join()
    assert taken == list(range(50))


def test_close_wakes_a_waiter(pair):
    publisher, subscriber = pair
    told = []

    def wait():
        with pytest.raises(RingError) as caught:
            subscriber.next(timeout=0.3)
        told.append(str(caught.value))

    waiter = threading.Thread(target=wait)
    waiter.start()
    publisher.close()
    waiter.join()
    assert "closed it" in told[0]


def test_a_signal_interrupts_a_wait(pair):
    class Stop(Exception):
        pass

    def stop(number, place):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Stop):
            pair[1].next(timeout=None)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_commands_are_filled_in_place_or_copied(pair):
    publisher, subscriber = pair
    subscriber.command("force")[:] = 1.5
    assert publisher.take("force") is None
    subscriber.send("force")
    assert (publisher.take("force") == 1.5).all()
    first, second = subscriber.command("force"), subscriber.command("force")
    assert first is second
    subscriber.send("force", np.full((4, 3), 2.5))
    assert (publisher.take("force") == 2.5).all()


def test_a_command_answers_the_tick_last_taken(pair):
    publisher, subscriber = pair
    to = np.empty((), "i4")
    subscriber.send("mode", 1)
    assert publisher.ring.take(1, to)[0] == 2**64 - 1  # no tick yet
    publish(publisher, 17)
    with subscriber.next():
        subscriber.send("mode", 2)
    answers, sent_ns = publisher.ring.take(1, to)
    assert (answers, to) == (17, 2)
    assert sent_ns > 0


@pytest.mark.parametrize("bad", [np.zeros(5), "abc", np.zeros((4, 3), complex), [[1], [2]]])
def test_a_command_that_does_not_fit_is_refused(pair, bad):
    publisher, subscriber = pair
    with pytest.raises(RingError, match=r"input 'force' takes float32 of shape \(4, 3\), not"):
        subscriber.send("force", bad)
    assert publisher.take("force") is None


def test_wrong_use_of_inputs_is_explained(pair):
    _, subscriber = pair
    with pytest.raises(RingError, match=r"call command\('force'\)"):
        subscriber.send("force")
    with pytest.raises(KeyError, match="no input 'forse'; there are force, mode"):
        subscriber.command("forse")


def test_an_exclusive_input_has_one_writer(states, inputs, name):
    with (
        Publisher(states, inputs, name, exclusive=["mode"]),
        Subscriber(name, writer="first") as first,
        Subscriber(name) as second,
    ):
        first.send("mode", 1)
        refusal = f"input 'mode' of ring '{name}' is for one writer at a time and has one, 'first' (pid {os.getpid()})"
        with pytest.raises(RingError, match=re.escape(refusal)):
            second.send("mode", 2)
        second.send("force", np.zeros((4, 3)))  # another input is free
        first.leave("mode")
        second.send("mode", 2)
        with pytest.raises(RingError, match="is for one writer"):
            first.send("mode", 3)
        second.close()
        first.send("mode", 3)


def test_a_writer_may_ask_for_an_input_alone(pair):
    publisher, first = pair
    with Subscriber(publisher, writer="second") as second:
        second.send("mode", 1)
        with pytest.raises(RingError, match=r"has one, 'second' \(pid"):
            first.claim("mode", exclusive=True)
        second.leave("mode")
        first.claim("mode", exclusive=True)
        with pytest.raises(RingError, match="is for one writer"):
            second.send("mode", 2)
        assert publisher.take("mode") == 1
        first.claim("mode")  # shares it from now on
        second.send("mode", 2)
        assert publisher.take("mode") == 2


def test_an_input_has_four_writers(pair):
    publisher, subscriber = pair
    others = [Subscriber(publisher, writer=f"writer {number}") for number in range(4)]
    for other in others:
        other.claim("mode")
    with pytest.raises(RingError, match=r"has 4 writers, 'writer 0' \(pid \d+\) among them, and takes no more"):
        subscriber.send("mode", 1)
    others.pop().close()
    subscriber.send("mode", 1)
    assert publisher.take("mode") == 1


@pytest.mark.parametrize("priority", [2**31, -(2**31) - 1, 0.5, "high"])
def test_a_priority_that_is_none_is_refused(pair, priority):
    with pytest.raises(RingError, match="a priority is a whole number of 32 bits, not"):
        pair[1].claim("mode", priority)
    with pytest.raises(KeyError, match="no input 'moode'"):
        pair[1].claim("moode")


def test_a_priority_outlives_the_generation(states, inputs, name):
    with Publisher(states, inputs, name):
        high = Subscriber(name)
        high.claim("mode", 10)
    with Publisher(states, inputs, name) as publisher, Subscriber(name) as low:
        publish(publisher, 0)
        with high.next(timeout=30):
            high.send("mode", 1)
        low.send("mode", 2)
        assert publisher.take("mode") == 1
        high.close()


def test_no_ring_no_owner_no_place(states, name):
    with pytest.raises(RingError, match=r"there is no ring .* start its producer"):
        Subscriber(name, timeout=0.02)
    with Publisher(states, name=name):
        readers = [Subscriber(name) for _ in range(64)]
        with pytest.raises(RingError, match="all 64 places"):
            Subscriber(name)
        readers.pop().close()
        Subscriber(name).close()


def test_it_goes_on_with_the_next_generation(states, inputs, name):
    with Publisher(states, name=name) as publisher:
        subscriber = Subscriber(name)
        publish(publisher, 1, level=1)
        held = subscriber.next()
    with Publisher(states, inputs, name) as publisher:
        publish(publisher, 0, level=2)
        with subscriber.next(timeout=30) as tick:
            assert (tick.step, float(tick["level"])) == (0, 2.0)
        assert held["level"] == 1
        held.release()
        assert subscriber.generation == publisher.generation
        assert subscriber.statistics()["switches"] == 1
        subscriber.send("mode", 1)
    with Publisher(states, name=name) as publisher:
        publish(publisher, 9)
        with subscriber.latest() as tick:
            assert tick.step == 9
    subscriber.close()


def test_ticks_leave_no_memory_behind(pair):
    publisher, subscriber = pair

    def turn(count):
        for step in range(count):
            publisher.ring.commit(publisher.ring.next(), step, step, 0)
            with subscriber.next() as tick:
                tick["position"]

    turn(100)
    before = sys.getallocatedblocks()
    turn(1000)
    assert sys.getallocatedblocks() - before < 50


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.lists(st.sampled_from("pptnlr"), max_size=60))
def test_whatever_the_order_held_ticks_are_whole(slots, actions):
    """p: publish, n: take the next, l: take the latest, r: release the oldest, t: prepare a slot and give it up."""
    with Publisher(COUNTER, slots=slots) as publisher, Subscriber(publisher) as subscriber:
        step, published, last, held = 0, [], None, []
        for action in actions:
            dropped = publisher.ring.dropped
            if action == "p":
                step += 1
                publish(publisher, step, count=step)
                published += [step] if publisher.ring.dropped == dropped else []
            elif action == "t":
                publisher.next()["count"][...] = -1
            elif action == "r" and held:
                held.pop(0).release()
            elif action in "nl" and len(held) < 4:
                new = bool(published) and published[-1] != last
                if action == "n" and not new:
                    continue
                tick = subscriber.next(timeout=0) if action == "n" else subscriber.latest()
                assert (tick is None) == (not published)
                if tick is None:
                    continue
                assert tick.step == published[-1]
                assert tick.skipped == (tick.step - last - 1 if last is not None and new else 0)
                last = tick.step
                held.append(tick)
            assert all((tick["count"] == tick.step).all() for tick in held)
            assert step - len(published) == publisher.ring.dropped
