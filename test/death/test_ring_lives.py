"""Readers come and go, by an end in order or by kill -9, and so do producers: the others see no difference."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber
from sim_node.bridge.transports import posix_shm
from sim_node.layout import Layout

STATES = Layout.of([("x", dtypes.int64, (50,), "m")])
READER = """
import sys
from sim_node.bridge import Subscriber
subscriber = Subscriber(sys.argv[1])
tick = subscriber.next()
print(tick.step, flush=True)
sys.stdin.read()  # it ends here: with a tick in its hand
"""


@pytest.fixture
def name(request):
    given = f"test_{os.getpid()}_{request.node.originalname}"
    yield given
    assert not posix_shm.path_of(given).exists()


def publish(publisher, step):
    with publisher.next() as slot:
        slot["x"][:] = step
        slot.commit(step, step)


@pytest.mark.parametrize("killed", [False, True], ids=["in order", "killed"])
def test_the_end_of_a_reader_takes_nothing_from_the_others(name, killed):
    with Publisher(STATES, name=name) as publisher, Subscriber(name) as stays:
        publish(publisher, 1)
        command = [sys.executable, "-c", READER, name]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as leaves:
            assert leaves.stdout.readline() == "1\n"
            if killed:
                leaves.kill()
            leaves.stdin.close()
            assert leaves.wait(60) == (-signal.SIGKILL if killed else 0)
        assert posix_shm.path_of(name).exists()
        publish(publisher, 2)
        with stays.next() as tick:
            assert tick["x"].tolist() == [2] * 50
        with Subscriber(name) as comes:
            assert comes.next().step == 2


def test_a_hundred_killed_producers_leave_one_ring_and_one_reader_that_followed_them(name):
    before = {path.name for path in posix_shm.FOLDER.iterdir()}
    with Publisher(STATES, name=name) as first:
        subscriber = Subscriber(name)
        generation = first.generation
    for life in range(100):
        told, ready = os.pipe()
        producer = os.fork()
        if producer == 0:
            try:
                publisher = Publisher(STATES, name=name)
                publish(publisher, life)
                os.write(ready, b".")
                signal.pause()
            finally:
                os._exit(1)
        os.close(ready)
        assert os.read(told, 1) == b"."
        os.close(told)
        with subscriber.next(timeout=60) as tick:
            assert tick["x"].tolist() == [life] * 50
        os.kill(producer, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(producer, 0)[1]) == signal.SIGKILL
    # what the last one left has the name, and the next takes it
    assert {path.name for path in posix_shm.FOLDER.iterdir() if name in path.name} == {posix_shm.path_of(name).name}
    with open("/proc/self/maps") as maps:
        assert len({line.split()[4] for line in maps if name in line}) == 1, "segments of the dead are still mapped"
    with Publisher(STATES, name=name) as last:
        assert last.generation > generation
        publish(last, 7)
        assert subscriber.next(timeout=60).step == 7
        assert subscriber.statistics()["switches"] == 101
    subscriber.close()
    after = {path.name for path in posix_shm.FOLDER.iterdir()}
    assert not {file for file in after - before if name in file}


def test_four_views_of_one_slot_are_four_fields(name):
    fields = [(word, dtypes.float32, (3,), "") for word in ("one", "two", "three", "four")]
    with Publisher(Layout.of(fields), name=name) as publisher:
        with publisher.next() as slot:
            for value, (word, *_) in enumerate(fields, 1):
                slot[word][:] = value
            slot.commit(1, 1)
        for source in (name, publisher):
            with Subscriber(source) as subscriber, subscriber.next() as tick:
                assert [float(tick[word].mean()) for word, *_ in fields] == [1, 2, 3, 4]


def test_subscriptions_in_the_producers_process_begin_and_end_as_they_like(name):
    with Publisher(STATES, name=name) as publisher, Subscriber(name) as one, Subscriber(publisher) as two:
        for step in range(1, 20):
            publish(publisher, step)
            with one.next() as here, two.next() as there:
                assert here["x"][0] == there["x"][0] == step
            with Subscriber(name if step % 2 else publisher) as again:
                assert again.next().step == step
        assert [reader[0] for reader in publisher.ring.readers()] == [os.getpid()] * 2


@pytest.mark.parametrize("slots", [4, 8])
def test_of_64_subscribers_none_slows_the_tick_and_each_has_its_counts(name, slots):
    ticks = 300
    with Publisher(STATES, name=name, slots=slots) as publisher:
        subscribers = [Subscriber(name) for _ in range(64)]
        for step in range(1, ticks + 1):
            publish(publisher, step)
            for pace, subscriber in enumerate(subscribers, 1):
                if step % pace == 0:  # the first takes each tick, the last each 64th
                    with subscriber.next(timeout=0.0) as tick:
                        assert (tick["x"] == step).all()
        assert publisher.ring.dropped == 0
        for pace, subscriber in enumerate(subscribers, 1):
            seen, between = ticks // pace, (ticks // pace - 1) * (pace - 1)  # not counted: what was before the first
            assert subscriber.statistics() == {
                "taken": seen, "skipped": between, "lost": 0, "revoked": 0, "held": 0, "switches": 0,
            }  # fmt: skip
        rows = publisher.ring.readers()
        assert len(rows) == 64
        assert [row[4] for row in rows] == [ticks // pace for pace in range(1, 65)]
        assert [row[3] for row in rows] == [ticks // pace * pace for pace in range(1, 65)]
        for subscriber in subscribers:
            subscriber.close()


def test_ticks_go_on_while_slow_readers_hold_every_slot(name):
    with Publisher(STATES, name=name, slots=4) as publisher:
        slow = [Subscriber(name) for _ in range(63)]
        fast = Subscriber(name)
        held = []
        for step in range(1, 5):
            publish(publisher, step)
            held += [subscriber.next(timeout=0.0) for subscriber in slow]
        for step in range(5, 105):
            publish(publisher, step)
        assert publisher.ring.dropped == 100  # told, and none of them waited for a reader
        assert fast.next(timeout=0.0).step == 4
        assert [np.unique(tick["x"]).tolist() for tick in held] == [[1]] * 63 + [[2]] * 63 + [[3]] * 63 + [[4]] * 63
        for tick in held[63:126]:
            tick.release()
        publish(publisher, 105)
        with fast.next(timeout=0.0) as tick:
            assert (tick.step, tick["x"][0]) == (105, 105)
        for tick in held:
            tick.release()
        for subscriber in (*slow, fast):
            subscriber.close()
