"""``sim-node inspect rings``: what a ring's owner, readers and writers do."""

import os

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber
from sim_node.layout import Layout

LAYOUT = Layout.of([("x", dtypes.float32, (3,), "m")])
INPUTS = Layout.of([("push", dtypes.float64, (), "N")])
NAME = f"inspect_{os.getpid()}"


def listed(sim_node):
    (ring,) = [ring for ring in sim_node("inspect", "rings", "--json").object["rings"] if ring["name"] == NAME]
    return ring


def test_a_ring_is_listed_with_its_owner(sim_node):
    with Publisher(LAYOUT, name=NAME):
        ring = listed(sim_node)
        assert (ring["owner_pid"], ring["alive"], ring["transport"]) == (os.getpid(), True, "posix_shm")
        assert (ring["step"], ring["age_ms"], ring["leases"], ring["dropped"]) == (None, None, 0, 0)
        assert (ring["readers"], ring["inputs"], ring["problem"]) == ([], [], "")
        assert NAME in sim_node("inspect", "rings").out
    assert NAME not in sim_node("inspect", "rings").out


def test_readers_and_writers_are_listed_with_what_they_did(sim_node):
    pid = os.getpid()
    with Publisher(LAYOUT, INPUTS, NAME, exclusive=["push"]) as publisher, Subscriber(NAME, writer="pilot") as pilot:
        for step in range(3):
            publisher.next().commit(step, step)
        with pilot.next():
            pilot.claim("push", 7)
            pilot.send("push", 1.0)
            publisher.take("push")
            ring = listed(sim_node)
            shown = sim_node("inspect", "rings").out
    assert ring["step"] == 2
    assert ring["age_ms"] > 0
    assert ring["copies_per_tick"] == 0
    assert ring["readers"] == [{"pid": pid, "alive": True, "leases": 1, "step": 2, "taken": 1, "skipped": 0, "lost": 0}]
    (push,) = ring["inputs"]
    assert push.pop("age_us") > 0
    assert push == {
        "name": "push",
        "exclusive": True,
        "silence": 100,
        "step": 3,
        "answers": 2,
        "writers": [
            {"pid": pid, "alive": True, "name": "pilot", "priority": 7, "sent": 1, "applied": 1, "in_charge": True}
        ],
    }
    for title in ("readers", "inputs", "writers", f"pilot (pid {pid})"):
        assert title in shown
