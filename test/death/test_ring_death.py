"""Kill -9 of either side: the other goes on, and after a restart nothing is left."""

import os
import signal
import subprocess
import sys
import time

import pytest

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber, rings
from sim_node.bridge.transports import posix_shm
from sim_node.errors import RingError
from sim_node.layout import Layout

STATES = Layout.of([("x", dtypes.int64, (50,), "m")])
INPUTS = Layout.of([("force", dtypes.float64, (3,), "N")])
PRELUDE = """
import os, sys
from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import RingError
from sim_node.layout import Layout
STATES = Layout.of([("x", dtypes.int64, (50,), "m")])
INPUTS = Layout.of([("force", dtypes.float64, (3,), "N")])
name = sys.argv[1]
def tell(*words):
    print(*words, flush=True)
def publish(publisher, step):
    with publisher.next() as slot:
        slot["x"][:] = step
        slot.commit(step, step)
"""
PRODUCER = """
publisher = Publisher(STATES, INPUTS, name)
tell(publisher.generation)
for line in sys.stdin:
    publish(publisher, int(line))
    tell("published")
publisher.close()
"""


@pytest.fixture
def name(request):
    given = f"test_{os.getpid()}_{request.node.name}"
    yield given
    assert not posix_shm.path_of(given).exists()


@pytest.fixture
def start(name):
    children = []

    def launch(code):
        child = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + code, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        children.append(child)
        return child

    yield launch
    for child in children:
        with child:  # closes the pipes and waits
            child.kill()


def ask(child, line):
    child.stdin.write(f"{line}\n")
    child.stdin.flush()
    return child.stdout.readline()


def kill(child):
    child.send_signal(signal.SIGKILL)
    assert child.wait(60) == -signal.SIGKILL


def publish_until(publisher, done):
    step, deadline = 1000, time.monotonic() + 60
    while not done():
        assert time.monotonic() < deadline
        step += 1
        publisher.next().commit(step, step)


def test_a_subscriber_goes_on_with_the_producers_next_life(name, start):
    first = start(PRODUCER)
    generation = int(first.stdout.readline())
    with Subscriber(name) as subscriber:
        ask(first, 7)
        held = subscriber.next()
        kill(first)
        with pytest.raises(RingError, match=rf"\(pid {first.pid}\) is dead; waited 0.05 s"):
            subscriber.next(timeout=0.05)
        assert [info.alive for info in rings() if info.name == name] == [False]
        second = start(PRODUCER)
        assert int(second.stdout.readline()) == generation + 1
        ask(second, 3)
        with subscriber.next(timeout=60) as tick:
            assert (tick.step, tick["x"].tolist()) == (3, [3] * 50)
        assert subscriber.generation == generation + 1
        assert held["x"].tolist() == [7] * 50
        held.release()
        subscriber.send("force", [1, 2, 3])
        second.stdin.close()
        assert second.wait(60) == 0


def test_a_waiting_subscriber_notices_the_death(name, start):
    producer = start(PRODUCER)
    producer.stdout.readline()
    waiter = start("""
subscriber = Subscriber(name)
tell("waits")
with subscriber.next(timeout=60) as tick:
    tell(tick.step)
""")
    assert waiter.stdout.readline() == "waits\n"
    kill(producer)
    successor = start(PRODUCER)
    successor.stdout.readline()
    ask(successor, 8)
    assert waiter.stdout.readline() == "8\n"
    successor.stdin.close()
    assert successor.wait(60) == 0


def test_a_readers_leases_and_inputs_are_taken_back(name, start):
    with Publisher(STATES, INPUTS, name) as publisher:
        reader = start("""
subscriber = Subscriber(name)
tell("ready")
held = []
for line in sys.stdin:
    held.append(subscriber.next())
    subscriber.send("force", [1, 2, len(held)])
    subscriber.command("force")[:2] = 99  # killed while it fills the next
    tell(held[-1].step)
""")
        reader.stdout.readline()
        for step in range(4):
            publisher.next().commit(step, step)
            assert ask(reader, "") == f"{step}\n"
        publisher.next().commit(4, 4)
        assert publisher.ring.dropped == 1
        kill(reader)
        assert [row[:3] for row in publisher.ring.readers()] == [(reader.pid, False, 4)]
        assert publisher.take("force").tolist() == [1, 2, 4]
        assert publisher.take("force") is None
        publish_until(publisher, lambda: not publisher.ring.readers())
        dropped = publisher.ring.dropped
        for step in range(10):
            publisher.next().commit(step, step)
        assert publisher.ring.dropped == dropped
        with Subscriber(name) as subscriber:
            subscriber.send("force", [5, 6, 7])
            assert publisher.take("force").tolist() == [5, 6, 7]


def test_a_living_senders_input_is_refused_a_dead_ones_is_taken_over(name, start):
    with Publisher(STATES, INPUTS, name, exclusive=["force"]) as publisher, Subscriber(name) as subscriber:
        sender = start(
            's = Subscriber(name, writer="doomed")\ns.send("force", [1, 1, 1])\ntell("sent")\nsys.stdin.read()'
        )
        sender.stdout.readline()
        with pytest.raises(RingError, match=rf"has one, 'doomed' \(pid {sender.pid}\)"):
            subscriber.send("force", [2, 2, 2])
        kill(sender)
        assert publisher.take("force").tolist() == [1, 1, 1]
        subscriber.send("force", [2, 2, 2])
        assert publisher.take("force").tolist() == [2, 2, 2]


def test_of_many_that_replace_a_dead_one_one_wins(name, start):
    dead = start(PRODUCER)
    generation = int(dead.stdout.readline())
    kill(dead)
    code = """
tell("ready")
sys.stdin.readline()
try:
    publisher = Publisher(STATES, INPUTS, name)
    tell("mine", publisher.generation)
except RingError as error:
    tell(error)
sys.stdin.readline()
"""
    rivals = [start(code) for _ in range(4)]
    for rival in rivals:
        rival.stdout.readline()
    for rival in rivals:
        rival.stdin.write("\n")
        rival.stdin.flush()
    answers = {rival.pid: rival.stdout.readline() for rival in rivals}
    (winner,) = [pid for pid, answer in answers.items() if answer.startswith("mine")]
    assert int(answers.pop(winner).split()[1]) >= generation + 1
    assert all(f"(pid {winner})" in answer for answer in answers.values())
    for rival in rivals:
        rival.stdin.close()
        assert rival.wait(60) == 0


def test_a_forked_child_owns_nothing_and_an_exit_cleans_up(name, start):
    child = start("""
publisher = Publisher(STATES, INPUTS, name)
if os.fork() == 0:
    sys.exit(0)  # runs what is left to do at exit
os.wait()
tell(Subscriber(name).generation == publisher.generation)
""")
    assert child.stdout.readline() == "True\n"
    assert child.wait(60) == 0
    assert not posix_shm.path_of(name).exists()


def test_a_forked_child_cannot_touch_its_parents_place(name):
    with Publisher(STATES, INPUTS, name) as publisher, Subscriber(name) as subscriber:
        publisher.next().commit(1, 0)
        tick = subscriber.next()
        subscriber.command("force")
        child = os.fork()
        if child == 0:
            refused = 0
            for use in (lambda: tick["x"], subscriber.next, subscriber.latest, lambda: subscriber.command("force")):
                try:
                    use()
                except ValueError:
                    refused += 1
            tick.release()
            subscriber.close()
            with Subscriber(name) as other:
                os._exit(refused != 4 or other.next().step != 1)
        assert os.waitpid(child, 0)[1] == 0
        assert subscriber.statistics()["held"] == 1
        subscriber.send("force")
        assert publisher.take("force") is not None
        for step in range(2, 8):
            publisher.next().commit(step, 0)
            assert publisher.next().index != tick.slot


def test_control_c_ends_a_wait(name, start):
    with Publisher(STATES, INPUTS, name):
        child = start("""
subscriber = Subscriber(name)
try:
    tell("waits")
    subscriber.next(timeout=None)
except KeyboardInterrupt:
    tell("interrupted")
""")
        child.stdout.readline()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(60) == 0


def test_a_stopped_reader_loses_its_slots_and_is_told_when_it_goes_on(name, start):
    with Publisher(STATES, name=name, slots=2, lease_limit=1e-6) as publisher:
        with publisher.next() as slot:
            slot.commit(1, 1)
        reader = start("""
subscriber = Subscriber(name)
try:
    with subscriber.next() as tick:
        tell("holds", tick.step)
        sys.stdin.readline()
        tell(tick.intact)
except RingError as error:
    tell(error)
tell(subscriber.statistics()["revoked"])
with subscriber.next() as tick:
    tell(tick.step, tick.intact)
""")
        assert reader.stdout.readline() == "holds 1\n"
        reader.send_signal(signal.SIGSTOP)
        for step in range(2, 100):
            publisher.next().commit(step, step)
        (row,) = publisher.ring.readers()
        assert (row[0], row[2], row[-1]) == (reader.pid, 0, 1)
        assert publisher.ring.dropped < 5  # only until it had been met for a microsecond
        reader.send_signal(signal.SIGCONT)
        reader.stdin.write("\n")
        reader.stdin.flush()
        assert reader.stdout.readline() == "False\n"
        assert "tick 1 was held for longer than leases of this ring last (0 ms)" in reader.stdout.readline()
        assert reader.stdout.readline() == "1\n"
        assert reader.stdout.readline() == "99 True\n"
