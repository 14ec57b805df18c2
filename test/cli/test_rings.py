"""``sim-node inspect rings`` and ``clean``: what a ring's owner, readers and writers do, and what dead owners left."""

import os

from sim_node import dtypes
from sim_node.bridge import Publisher, Subscriber
from sim_node.bridge.transports import posix_shm
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
        assert (ring["device_transport"], ring["mapped_by"]) == ("", [])
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
    counts = {"leases": 1, "step": 2, "taken": 1, "skipped": 0, "lost": 0, "revoked": 0}
    assert ring["readers"] == [{"pid": pid, "uid": os.geteuid(), "alive": True, **counts}]
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


def test_what_the_dead_left_is_removed(sim_node, rings_folder):
    assert sim_node("inspect", "clean").out == "there is nothing to remove\n"
    with Publisher(LAYOUT, name="dead"):
        content = bytearray(posix_shm.path_of("dead").read_bytes())
    content[24 + 3] ^= 1  # another start time of the owner
    dead, living = posix_shm.path_of("dead"), posix_shm.path_of("living")
    dead.write_bytes(content)
    with Publisher(LAYOUT, name="living"):
        for option, title in (("--dry-run", "would be removed"), ("", "removed")):
            said = sim_node("inspect", "clean", "--json", "--dry-run").object
            assert (said["dry_run"], said["bytes"]) == (True, len(content))
            assert [each["path"] for each in said["removed"]] == [str(dead)]
            assert [each["path"] for each in said["left"]] == [str(living)]
            shown = sim_node("inspect", "clean", *filter(None, [option]))
            assert shown.code == 0
            assert title in shown.out
            assert "left alone" in shown.out
        assert [path.name for path in rings_folder.iterdir()] == [living.name]
        assert sim_node("inspect", "clean", "--json").object["removed"] == []


def test_who_maps_the_fields_on_a_gpu_is_listed(sim_node, simulate):
    device = simulate().device
    fields = {"device_layout": LAYOUT, "device": device, "device_transport": "vmm"}
    with Publisher(Layout((), 0), name=NAME, **fields) as publisher:
        place = publisher.ring.enter_mapper()
        ring = listed(sim_node)
        shown = sim_node("inspect", "rings").out
        publisher.ring.leave_mapper(place)
    assert (ring["device_transport"], ring["mapped_by"]) == ("vmm", [os.getpid()])
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in shown.splitlines()]
    assert [NAME, "vmm", str(os.getpid())] in rows
