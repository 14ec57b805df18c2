import gc
import os
import re
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from devices import COMPILED

from sim_node.bridge import Handle, Subscriber
from sim_node.bridge.transports import posix_shm

PLANTS = Path(__file__).with_name("plants.py")


def test_up_and_down(rig):
    with rig() as (node, peer):
        assert peer.state() == "unconfigured"
        assert not posix_shm.path_of(node.get_name()).exists()
        assert peer.change("configure")
        assert posix_shm.path_of(node.get_name()).exists()
        assert peer.change("activate")
        peer.until(lambda: node.assembly.stepper.step > 3, "tick")
        assert peer.change("deactivate")
        held = node.assembly.stepper.step
        assert peer.change("activate")
        peer.until(lambda: node.assembly.stepper.step > held, "tick after the second activation")
        assert peer.change("deactivate")
        assert peer.change("cleanup")
        assert not posix_shm.path_of(node.get_name()).exists()
        assert peer.change("shutdown")
        assert peer.state() == "finalized"


def test_the_ring_may_lie_in_no_folder(rig):
    from sim_node.msg import Ring

    with rig(transport="memfd") as (node, peer):
        told = peer.listen(Ring, "ring")
        assert peer.change("configure")
        assert peer.change("activate")
        peer.until(lambda: told and node.assembly.stepper.step > 0, "ring announced, and a tick")
        assert told[0].transport == "memfd"
        assert not posix_shm.path_of(node.get_name()).exists()
        with Subscriber(Handle.of(told[0])) as subscriber, subscriber.next(timeout=60) as tick:
            assert tick.step > 0


def test_a_ring_larger_than_shared_memory_is_refused_at_configure(rig, monkeypatch):
    with rig() as (node, peer):
        with monkeypatch.context() as full:
            full.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=1, f_frsize=4096))
            assert not peer.change("configure")
        assert re.search(r"needs \d+ bytes and /dev/shm has 4096 bytes free: publish fewer", str(node.fault))
        assert peer.change("configure")


def test_an_invalid_transition_is_refused_and_survived(rig):
    with rig() as (_, peer):
        for transition in ("activate", "cleanup", "nonsense"):
            assert not peer.change(transition)
        assert peer.change("configure")
        assert not peer.change("configure")
        assert peer.state() == "inactive"


@pytest.mark.parametrize(
    ("given", "cause", "mend"),
    [
        (
            {"plant": f"{PLANTS}:Broken"},
            "ZeroDivisionError: the author divided by zero",
            ("plant_parameters.mended", True),
        ),
        ({"plant": ""}, "parameter 'plant' is empty", ("plant", f"{PLANTS}:Follow")),
        ({"plant": f"{PLANTS}:Folow"}, "did you mean 'Follow'?", ("plant", f"{PLANTS}:Follow")),
        ({"device": "cuda:99"}, "no device 'cuda:99'; present: cpu, python", ("device", "cpu")),
        ({"group": "nobodies"}, "there is no group 'nobodies' on this machine", ("group", "")),
        ({"exclusive_inputs": "push, pull"}, "no input 'pull' to be exclusive", ("exclusive_inputs", "push")),
        ({"rate": float("nan")}, "parameter 'rate' takes a finite number, not nan", ("rate", 200)),
        ({"rate": -1.0}, "parameter 'rate' = -1.0 is less than 0.001 Hz", ("rate", 200)),
        (
            {"plant_parameters.points": 0},
            "'plant_parameters.points' = 0 is less than 1",
            ("plant_parameters.points", 4),
        ),
        ({"plant_parameters.gain": "fast"}, "takes a finite number, not 'fast'", ("plant_parameters.gain", "1e1")),
    ],
)
def test_a_failed_configure_says_why_and_can_be_mended(rig, capfd, given, cause, mend):
    with rig(**given) as (node, peer):
        assert not peer.change("configure")
        assert peer.state() == "unconfigured"
        told = capfd.readouterr().err
        assert told.splitlines()[0].partition("could not configure: ")[2]
        assert cause in told
        assert not posix_shm.path_of(node.get_name()).exists()
        assert peer.set(*mend) == ""
        assert peer.change("configure")
        assert peer.change("activate")
        peer.until(lambda: node.assembly.stepper.step > 0, "tick")


def test_a_name_that_another_process_holds_is_one_of_the_causes(rig, capfd):
    from sim_node.bridge import Publisher
    from sim_node.layout import Layout

    with rig() as (node, peer):
        with Publisher(Layout((), 0), name=node.get_name()):
            assert not peer.change("configure")
            assert "belongs to a running process" in capfd.readouterr().err
        assert peer.change("configure")


@COMPILED
def test_a_kernel_that_fails_makes_the_node_inactive(rig, capfd, device):
    for clock in ("native", "timer"):
        with rig(plant=f"{PLANTS}:RunsOut", clock=clock, rate=1000.0, device=device.name) as (node, peer):
            assert peer.change("configure")
            assert peer.change("activate")
            peer.until(lambda: node.state == "inactive", "fall back to inactive")
            told = capfd.readouterr().err
            assert "the clock stopped after step 50" in told
            assert "plants.py" in told
            assert peer.change("cleanup")
            assert peer.change("configure")


@COMPILED
def test_configured_again_and_again_leaves_nothing(rig, device):
    with rig(device=device.name) as (node, peer):

        def cycle():
            assert peer.change("configure")
            stepper = weakref.ref(node.assembly.stepper)
            for transition in ("activate", "deactivate", "cleanup"):
                assert peer.change(transition)
            # the answer goes out before the transition's callback has returned, and with it what it held
            peer.until(lambda: gc.collect() is not None and stepper() is None, "end of the stepper")

        def held():
            gc.collect()
            memory = device.arena.taken if device.is_cuda else 0
            return len(os.listdir("/proc/self/fd")), threading.active_count(), len(list(node.publishers)), memory

        cycle()
        before = held()
        for _ in range(20):
            cycle()
        peer.until(lambda: held() == before, "end of what was configured")


def test_parameters_are_described_converted_and_frozen(rig):
    from rcl_interfaces.srv import DescribeParameters

    with rig(rate=100, dt="1e-3", **{"plant_parameters.gain": 50}) as (node, peer):
        assert peer.get("rate") == 100.0
        assert isinstance(peer.get("rate"), float)
        assert peer.get("dt") == 0.001
        assert peer.set("substeps", "2") == ""
        assert peer.get("substeps") == 2
        assert "takes a whole number, not 1.5" in peer.set("substeps", 1.5)
        assert "one of native, timer, lockstep, free, not 'sundial'" in peer.set("clock", "sundial")
        assert "out of range" in peer.set("rate", -1.0)
        assert peer.change("configure")
        assert node.assembly.plant.gain == 50.0
        assert node.assembly.stepper.dt_ns == 1_000_000
        assert "is read by configure" in peer.set("rate", 50.0)
        assert "is read by configure" in peer.set("plant_parameters.gain", 5.0)
        assert peer.set("rate", 100) == ""
        names = ["plant_parameters.points", "plant_parameters.gain"]
        points, gain = peer.call(DescribeParameters, "describe_parameters", names=names).descriptors
        assert (points.description, points.integer_range[0].to_value) == ("how many", 100)
        assert gain.description == "how fast [1/s]"
        assert gain.floating_point_range[0].to_value == 1e3
        assert peer.change("cleanup")
        assert peer.set("plant", f"{PLANTS}:Broken") == ""
        assert peer.set("plant_parameters.gain", 5.0) == ""
        assert not peer.change("configure")
        assert not node.has_parameter("plant_parameters.gain")
        assert node.get_parameter("plant_parameters.mended").value is False


def test_a_parameter_that_nothing_reads_is_named(rig, capfd):
    with rig(**{"plant_parameters.gian": 5.0, "ratee": 10}) as (_, peer):
        assert peer.change("configure")
        told = capfd.readouterr().err
        assert "'plant_parameters.gian'; did you mean 'plant_parameters.gain'?" in told
        assert "'ratee'; did you mean 'rate'?" in told


def test_activate_sent_while_configure_still_compiles_waits_for_it(run, peer_of, tmp_path):
    from lifecycle_msgs.msg import Transition
    from lifecycle_msgs.srv import ChangeState

    name, empty = f"compiles_{os.getpid()}", tmp_path / "empty"
    options = ["-r", f"__node:={name}", "-p", f"plant:={PLANTS}:Follow"]
    run("--ros-args", *options, env={**os.environ, "SIM_NODE_CACHE": str(empty)})
    peer = peer_of(f"/{name}")
    client = peer.node.create_client(ChangeState, f"{peer.target}/change_state")
    peer.until(client.service_is_ready, "service change_state")
    peer.meet()
    labels = ("configure", "activate", "configure")
    sent = [client.call_async(ChangeState.Request(transition=Transition(label=label))) for label in labels]
    peer.until(lambda: all(future.done() for future in sent), "answers")
    assert [future.result().success for future in sent] == [True, True, False]
    assert list(empty.iterdir())
    assert peer.state() == "active"
    assert peer.change("deactivate")
    assert peer.change("cleanup")


def test_parameters_of_a_file_are_what_its_author_meant(run, peer_of, tmp_path):
    name, biggest = f"from_file_{os.getpid()}", 2**63 - 1
    file = tmp_path / "plant.yaml"
    file.write_text(f"""
/**:
  ros__parameters:
    plant: "{PLANTS}:Follow"
    rate: 10
    dt: 5e-06
    seed: {biggest}
    lateness_warn_us: .nan
    plant_parameters: {{gain: 10}}
""")
    run("--ros-args", "-r", f"__node:={name}", "--params-file", str(file))
    peer = peer_of(f"/{name}")
    assert not peer.change("configure")  # the nan
    assert peer.set("lateness_warn_us", 1e3) == ""
    assert peer.change("configure")
    got = {key: peer.get(key) for key in ("rate", "dt", "seed", "plant_parameters.gain")}
    assert got == {"rate": 10.0, "dt": 5e-6, "seed": biggest, "plant_parameters.gain": 10.0}
    assert [type(value) for value in got.values()] == [float, float, int, float]
    assert peer.change("cleanup")
