import os

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from devices import COMPILED, GPUS
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.parameter import Parameter
from std_msgs.msg import Float32MultiArray
from std_srvs.srv import Trigger

from sim_node.bridge import Subscriber
from sim_node.msg import Keyframe, Record, Ring, Tick
from sim_node.node.process import hosted
from sim_node.plant import Stepper, reference
from sim_node.plant.keyframe import target_of
from sim_node.replay.messages import batch_of, keyframe_of
from sim_node.srv import Step


def steps(records):
    return [step for record in records for step in range(record.first_step, record.first_step + record.count)]


def applied(record):
    """The first number of the inputs at the record's last tick: that of ``force``."""
    return float(np.frombuffer(batch_of(record).records.inputs[-1].tobytes(), np.float32)[0])


def test_what_ticks_while_records_go_out_is_in_the_next_message(rig, monkeypatch):
    """Else whoever publishes meets ever more of it: messages of one tick each, which push out those that are kept."""
    with rig(start_paused=True) as (node, peer):
        peer.change("configure")
        records = peer.listen(Record, "record")
        peer.change("activate")
        stepper = node.assembly.stepper
        drain = stepper.drain

        def beside():
            found = drain()
            if found.count and stepper.step < 100 and stepper.phase == "parked":
                stepper.request(1)
            return found

        monkeypatch.setattr(stepper, "drain", beside)
        assert peer.call(Step, "step", ticks=3).success
        peer.until(lambda: steps(records)[3:5] == [4, 5], "records")
        assert [record.count for record in records[:2]] == [3, 1]
        assert stepper.step < 100


@COMPILED
def test_records_and_keyframes_replay_on_the_cpu(rig, device):
    with rig(rate=1000.0, keyframe_every=50, device=device.name) as (node, peer):
        peer.change("configure")
        records, keyframes = peer.listen(Record, "record"), peer.listen(Keyframe, "keyframe")
        force = peer.node.create_publisher(Float32MultiArray, f"{peer.target}/input/force", 10)
        peer.change("activate")
        peer.until(force.get_subscription_count, "subscription to the input")
        peer.meet()
        for push in range(1, 6):
            force.publish(Float32MultiArray(data=[float(push + i) for i in range(9)]))
            peer.until(lambda push=push: records and applied(records[-1]) == push, "record with the input")
        peer.change("deactivate")
        last = node.assembly.stepper.step
        peer.until(lambda: records and steps(records)[-1] == last, "last record")

        assert steps(records) == list(range(1, last + 1))
        first, generation = keyframe_of(keyframes[0])
        assert (first.step, generation) == (0, node.assembly.publisher.generation)
        assert {keyframe.step % 50 for keyframe in keyframes} == {0}
        assert first.target == target_of(device)
        again = Stepper(reference(first.plant)(), dt_ns=first.dt_ns, substeps=first.substeps, seed=first.seed)
        again.restore(first)
        batches = [batch_of(record).records for record in records]
        inputs = np.concatenate([batch.inputs for batch in batches])
        assert len(np.unique(inputs, axis=0)) == 6
        for row, hashes in zip(inputs, np.concatenate([batch.hashes for batch in batches])):
            for field in again.input_layout:
                again.set(field.name, field.view(row))
            again.tick()
            assert np.array_equal(again.hashes(), hashes)


def test_a_late_subscriber_gets_ring_records_and_keyframe(rig):
    with rig(rate=1000.0) as (node, peer):
        peer.change("configure")
        peer.change("activate")
        peer.until(lambda: node.assembly.stepper.step > 200, "tick")
        rings, records = peer.listen(Ring, "ring"), peer.listen(Record, "record")
        keyframes = peer.listen(Keyframe, "keyframe")
        peer.until(lambda: rings and records and keyframes, "latched message")
        assert keyframes[0].step == 0
        assert records[0].first_step == 1
        ring = rings[0]
        with Subscriber(f"/{ring.segment}") as reader:
            assert reader.generation == ring.generation
            assert [field.name for field in ring.fields] == [field.name for field in reader.layout] == ["x"]
            assert [(field.name, field.dtype, list(field.shape)) for field in ring.inputs] == [
                ("force", "vec3f", [3]),
                ("push", "f64", []),
            ]


def test_ticks_go_out_no_faster_than_asked(rig):
    with rig(rate=1000.0, tick_topic_rate=20.0) as (node, peer):
        peer.change("configure")
        ticks = peer.listen(Tick, "tick", late=False)
        peer.change("activate")
        peer.until(lambda: len(ticks) >= 5, "ticks")
        peer.change("deactivate")
        assert len(ticks) < node.assembly.stepper.step / 10
        numbers = [tick.step for tick in ticks]
        assert numbers == sorted(set(numbers))
        tick = ticks[-1]
        assert tick.stamp.sec * 10**9 + tick.stamp.nanosec == tick.step * 10**6
        assert tick.generation == node.assembly.publisher.generation


def test_what_is_not_wanted_is_not_sent(rig):
    with rig(record=False, tick_topic_rate=0) as (_, peer):
        peer.change("configure")
        received = [peer.listen(kind, kind.__name__.lower()) for kind in (Record, Keyframe)]
        received.append(peer.listen(Tick, "tick", late=False))
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        peer.change("activate")
        peer.until(lambda: len(told) >= 2, "diagnostics")
        peer.change("deactivate")
        assert received == [[], [], []]


def test_quality_of_service_can_be_overridden(rig):
    with rig(**{f"qos_overrides./plant_{os.getpid()}/record.publisher.depth": 7}) as (node, peer):
        peer.change("configure")
        (record,) = [p for p in node.publishers if p.topic_name == f"{peer.target}/record"]
        assert record.qos_profile.depth == 7


def test_the_quality_of_one_node_is_not_that_of_the_next(ros_domain, cache, plants):
    name, depths = f"plant_{os.getpid()}", []
    override = Parameter(f"qos_overrides./{name}/record.publisher.depth", value=7)
    for overrides in ([override], []):
        given = [Parameter("plant", value=f"{plants}:Follow"), *overrides]
        with hosted(name=name, parameter_overrides=given) as node:
            node.make("configure")
            depths += [p.qos_profile.depth for p in node.publishers if p.topic_name == f"/{name}/record"]
    assert depths == [7, 100]


@pytest.mark.parametrize("clock", ["native", "timer"])
def test_diagnostics_tell_what_happens(rig, clock):
    with rig(rate=200.0, clock=clock, diagnostics_period=0.2) as (node, peer):
        peer.change("configure")
        told = peer.listen(DiagnosticArray, "/diagnostics", late=False)
        peer.until(lambda: told, "diagnostics")
        assert told[-1].status[0].message == "inactive"
        assert told[-1].status[0].name == f"{node.get_name()}: plant"
        peer.change("activate")
        with Subscriber(peer.target) as reader:
            reader.send("push", 1.0)
            tick = reader.next()
            peer.until(lambda: "command_age_p50_us" in values(told[-1]), "age of the command")
            assert values(told[-1])["leases"] == "1"
            tick.release()
        figures = values(told[-1])
        assert figures["state"] == "running"
        assert float(figures["rate_hz"]) > 0
        assert {"lateness_p50_us", "lateness_p99_us", "lateness_max_us", "step_time_p50_us"} <= set(figures)
        assert (figures["copies_per_tick"], figures["transport"], figures["clock"]) == ("0", "posix_shm", clock)
        assert {"misses", "skipped", "lost", "dropped"} <= set(figures)


def values(message):
    return {pair.key: pair.value for pair in message.status[0].values}


@GPUS
@pytest.mark.parametrize(
    ("asked", "transport", "why"), [("auto", "cuda_ipc", "the first choice"), ("vmm", "vmm", "asked for")]
)
def test_fields_on_a_gpu_are_told_of_and_reset_with_the_ring(rig, plants, device, asked, transport, why):
    with rig(rate=1000.0, plant=f"{plants}:Apart", device=device.name, device_transport=asked) as (node, peer):
        peer.change("configure")
        rings, said = peer.listen(Ring, "ring"), peer.listen(DiagnosticArray, "/diagnostics", late=False)
        peer.change("activate")
        peer.until(lambda: rings and said, "latched message and diagnostics")
        ring = rings[0]
        told = {pair.key: pair.value for pair in said[-1].status[0].values}
        assert (ring.device_transport, told["device_transport"], told["mapped_by"]) == (transport, transport, "")
        assert (ring.device_transport_why, told["device_transport_why"]) == (why, why)
        assert (ring.device_uuid, [field.name for field in ring.device_fields]) == (device.uuid, ["x", "level"])
        assert [field.name for field in ring.fields] == ["level"]
        with Subscriber(f"/{ring.segment}") as reader:
            assert (ring.driver, ring.device_uuid) == (reader.offer.driver, reader.offer.uuid)
            with reader.next(timeout=60) as tick:
                assert tick["x"].ptr == node.assembly.publisher.exported.slot(tick.slot)["x"].ptr
                assert tick.fetch("x").shape == (3, 3)
            first = reader.generation
            assert peer.call(Trigger, "reset").success
            while reader.generation == first:  # what it has not seen of the old ring comes first
                with reader.next(timeout=60) as tick:
                    assert tick.fetch("level") == tick["level"]
            with reader.latest() as tick:
                assert tick.fetch("x").shape == (3, 3)


def test_a_gpu_without_the_transport_that_is_asked_for_publishes_on_the_host(rig, plants, simulate, capfd):
    gpu = simulate()
    gpu.driver.can_export = False
    with rig(rate=1000.0, plant=f"{plants}:Apart", device="cuda:0", device_transport="vmm") as (node, peer):
        peer.change("configure")
        assert node.assembly.publisher.exported is None
    said = "'x' is published on the host: cuda:0 (Simulated GPU) does not share memory by file descriptors"
    assert said in capfd.readouterr().err


def test_what_no_gpu_keeps_is_published_on_the_host(rig, plants, capfd):
    with rig(rate=1000.0, plant=f"{plants}:Apart", huge_pages=True) as (node, peer):
        peer.change("configure")
        rings = peer.listen(Ring, "ring")
        peer.until(lambda: rings, "latched message")
        assert (rings[0].device_transport, list(rings[0].device_fields)) == ("", [])
        assert [field.name for field in rings[0].fields] == ["x", "level"]
        assert node.assembly.publisher.exported is None
    said = capfd.readouterr().err
    for name in ("x", "level"):
        assert f"'{name}' is published on the host: the plant is stepped on cpu, which is no GPU" in said
    assert "has ordinary pages" in said  # it is smaller than a huge one
