"""Connections to real nodes: by shared memory here, by topics as from another host, and from one to the other."""

import os
import threading

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from std_srvs.srv import Trigger

from sim_node.bridge import connect
from sim_node.errors import RingError
from sim_node.node.topics import Topics

STANDARD = {
    "topics.poses.type": "geometry_msgs/msg/PoseArray",
    "topics.poses.fields.position": "x",
    "topics.poses.rate": 200.0,
    "topics.first.type": "std_msgs/msg/Float64MultiArray",
    "topics.first.fields.data": "x[0]",
    "topics.first.rate": 200.0,
}
NAME = f"plant_{os.getpid()}"
FORCE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
STRANGER = 54321
ELSEWHERE = [
    ({"boot_id": "another"}, f"the ring '{NAME}' is of another host, "),
    ({"owner_uid": STRANGER}, f"the ring '{NAME}' is of uid {STRANGER}, this process of "),
    ({"transport": "cuda_ipc"}, f"the ring '{NAME}' has the transport 'cuda_ipc'; "),
    ({"segment": "none_such"}, "the ring 'none_such' is gone; "),
    ({"owner_start": 1}, f"the ring '{NAME}' is another one by now: owner_start "),
    ({"generation": 1}, f"the ring '{NAME}' is another one by now: generation "),
    ({"layout_digest": ""}, "a ring's layout_digest is a SHA-256 in hex, not ''"),
]


@pytest.fixture
def address(monkeypatch):
    """What the node's address is changed to: ``address(boot_id=…)``; nothing at first."""
    told, changes = Topics._address, {}

    def changed(topics):
        message = told(topics)
        for name, value in changes.items():
            setattr(message, name, value)
        return message

    monkeypatch.setattr(Topics, "_address", changed)

    def change(**fields):
        changes.clear()
        changes.update(fields)

    return change


def moved(connection):
    """Wait until the plant has followed the command, and give its last values."""
    for _ in range(2000):
        connection.send("force", FORCE)
        with connection.next(30.0) as tick:
            if "x" in tick.keys() and np.allclose(tick["x"], FORCE, rtol=0.1):  # noqa: SIM118 (not iterable)
                return tick["x"].copy(), tick.stamp_ns
    raise AssertionError("the plant did not follow")


def read_on(connection, ticks):
    for _ in range(ticks):
        connection.next(0.01).release()


def test_a_plant_of_this_host_is_read_in_its_ring(rig, capfd):
    with rig(rate=1000.0, **STANDARD) as (_, peer):
        peer.change("configure")
        peer.change("activate")
        with connect(peer.node, peer.target) as connection:
            assert connection.path == "shared memory"
            assert connection.reason == f"ring '{NAME}' is of this host"
            assert connection.fields == ("x",)
            x, stamp_ns = moved(connection)
            assert x.shape == (3, 3)
            assert stamp_ns > 0
            with connection.latest() as tick:
                assert not tick["x"].flags.writeable
    assert capfd.readouterr().err.count(f"{peer.target}: shared memory: ring '{NAME}' is of this host") == 1


@pytest.mark.parametrize(("changes", "why"), ELSEWHERE, ids=[next(iter(changes)) for changes, _ in ELSEWHERE])
def test_a_plant_that_cannot_be_mapped_is_read_by_topics(rig, address, changes, why):
    address(**changes)
    with rig(rate=1000.0, **STANDARD) as (_, peer):
        peer.change("configure")
        with connect(peer.node, peer.target) as connection:
            assert connection.path == "topics"
            assert connection.reason.startswith(why)
            assert connection.reason.endswith(f"; {peer.target}/first, {peer.target}/poses instead")
            assert connection.latest() is None


def test_topics_bring_the_same_and_take_commands(rig, address):
    address(boot_id="another")
    with rig(rate=1000.0, **STANDARD) as (_, peer):
        peer.change("configure")
        peer.change("activate")
        with connect(peer.node, peer.target) as connection:
            assert connection.fields == ("x[0]", "x")
            x, stamp_ns = moved(connection)
            assert x.dtype == np.float32
            assert stamp_ns > 0
            with connection.next() as values:
                assert values["x[0]"].shape == (3,)
                with pytest.raises(KeyError, match="no message with 'y' has come; there are x"):
                    values["y"]
            assert connection.latest()["x"].shape == (3, 3)
            with pytest.raises(RingError, match=r"input 'force' takes float32 of shape \(3, 3\), not float64 of shape"):
                connection.send("force", [1.0, 2.0])
            with pytest.raises(KeyError, match="no input 'farce'; there are force, push"):
                connection.send("farce", 1.0)


def test_both_paths_go_on_after_a_reset_and_change_with_the_plants_place(rig, address):
    with rig(rate=1000.0, **STANDARD) as (_, peer):
        peer.change("configure")
        peer.change("activate")
        with connect(peer.node, peer.target) as connection:
            for changes, path in (
                ({}, "shared memory"),
                ({"boot_id": "another"}, "topics"),
                ({"owner_uid": STRANGER}, "topics"),
                ({}, "shared memory"),
                ({"segment": "moved"}, "topics"),
                ({}, "shared memory"),
            ):
                address(**changes)
                assert peer.call(Trigger, "reset").success
                for _ in range(2000):
                    connection.next(30.0).release()
                    chosen = connection._chosen
                    if connection.path == path and all(getattr(chosen, at) == what for at, what in changes.items()):
                        break
                assert connection.path == path
                moved(connection)


def test_a_reader_waits_for_an_address_after_one_that_leads_nowhere(rig, address):
    with rig(rate=1000.0) as (_, peer):
        peer.change("configure")
        peer.change("activate")
        with connect(peer.node, peer.target) as connection:
            address(segment="gone")
            assert peer.call(Trigger, "reset").success
            with pytest.raises(RingError, match="the ring 'gone' is gone"):
                read_on(connection, 2000)
            address()
            again = threading.Thread(target=peer.call, args=(Trigger, "reset"))
            again.start()
            connection.next(30.0).release()
            assert connection.path == "shared memory"
            again.join()


def test_silence_is_told(rig, address):
    address(boot_id="another")
    with rig(**STANDARD) as (_, peer):
        peer.change("configure")
        with (
            connect(peer.node, peer.target) as connection,
            pytest.raises(RingError, match=r"no message of /plant_\d+ came within 0.01 s: is it paused or inactive"),
        ):
            connection.next(0.01)


def test_nothing_to_connect_to_is_one_clear_error(rig, address):
    with rig() as (_, peer):
        with pytest.raises(RingError, match=r"no address of a plant came on /nobody/ring within 0.01 s"):
            connect(peer.node, "/nobody", timeout=0.01)
        address(boot_id="another")
        peer.change("configure")
        told = (
            r"cannot be mapped \(the ring 'plant_\d+' is of another host, .*\), and it publishes no standard messages"
        )
        with pytest.raises(RingError, match=told):
            connect(peer.node, peer.target, timeout=2.0)


def test_an_address_without_sense_is_refused(rig, address):
    from sim_node.msg import Field

    address(boot_id="another", inputs=[Field(name="force", dtype="vec3f", shape=[2**62, 2**62])])
    with rig(**STANDARD) as (_, peer):
        peer.change("configure")
        with pytest.raises(RingError, match="cannot be used: field 'force' of vec3f has an impossible type or shape"):
            connect(peer.node, peer.target, timeout=2.0)
