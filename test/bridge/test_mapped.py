"""Fields on a GPU between processes: mapped once, through reconfigurations and deaths, and never by accident."""

import gc
import re
import signal
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from devices import GPUS, absent
from gpu_fields import PRODUCER, Counted, ask

import sim_node as sn
from sim_node.bridge import Publisher, Subscriber, handover, mapped, rings
from sim_node.bridge.exported import outliving
from sim_node.device.driver import call
from sim_node.errors import RingError
from sim_node.plant import Stepper


def free(device):
    with device.active():
        return call("cuMemGetInfo")[0]


def opened(device, name, transport, size=4):
    plant = Counted(size=size)
    publisher = Publisher(
        plant.host_layout, plant.input_layout, name, device_layout=plant.device_layout, device=device,
        device_transport=transport,
    )  # fmt: skip
    return publisher, Stepper(plant, dt_ns=1000, ring=publisher.ring, slots=publisher.exported, device=device)


def wait_for(done):
    deadline = time.monotonic() + 20
    while not done():
        assert time.monotonic() < deadline
        gc.collect()
        time.sleep(0.01)


READER = """
with Subscriber(name, timeout=60) as subscriber:
    tell("ready")
    for line in sys.stdin:
        with subscriber.next(timeout=60) as tick:
            tell(*tick.fetch("ticks").tolist())
"""
FOLLOWER = """
with Subscriber(name, timeout=60) as subscriber:
    for line in sys.stdin:
        told = None
        while told is None or subscriber.generation != int(line):
            with subscriber.next(timeout=60) as tick:
                told = {*tick.fetch("ticks").tolist()}
        tell(*told)
"""


@GPUS
def test_each_field_comes_on_its_way(device, name, transport, start):
    producer = start(PRODUCER)
    producer.stdout.readline()
    with Subscriber(name, timeout=60) as subscriber:
        assert {field: way.transport for field, way in subscriber.ways.items()} == {
            "place": "posix_shm", "seen": "posix_shm", "ticks": transport, "told": transport,
        }  # fmt: skip
        assert ("160 µs" if transport == "cuda_ipc" else "there are no events") in str(subscriber.ways["ticks"])
        assert (subscriber.offer.why, subscriber.ways["ticks"].why) == ("asked for", "asked for")
        assert subscriber.ways["ticks"].place == "cuda:0"
        assert "nothing is copied" in subscriber.ways["place"].cost
        assert (subscriber.offer.uuid, subscriber.offer.pid) == (device.uuid, producer.pid)
        assert ask(producer, 5) == "5"
        with subscriber.next() as tick:
            assert tick.fetch("ticks").tolist() == tick.fetch("told").tolist() == [5.0] * 4
            assert tick["place"].tolist() == tick.fetch("place").tolist() == [[5.0, 10.0, 15.0]] * 4
            assert tick["seen"].tolist() == [10.0] * 4
            assert sn.array(tick["ticks"], copy=False, device=device).numpy().tolist() == [5.0] * 4
            assert sn.from_dlpack(tick["ticks"]).numpy().tolist() == [5.0] * 4
            assert tick.intact


@GPUS
def test_a_reader_says_where_it_works(device, name, start):
    producer = start(PRODUCER)
    producer.stdout.readline()
    ask(producer, 2)
    with Subscriber(name, on="device") as there, Subscriber(name, on="host") as here:
        with there.latest() as tick:
            assert {field: way.place for field, way in there.ways.items()} == {
                "place": "cuda:0", "seen": "host", "ticks": "cuda:0", "told": "cuda:0",
            }  # fmt: skip
            assert tick["place"].shape == (4, 3)
            assert tick.fetch("place").tolist() == [[2.0, 4.0, 6.0]] * 4
        with here.latest() as tick:
            assert tick.keys() == ["place", "seen"]
            with pytest.raises(KeyError, match="field 'ticks' does not come: this subscriber is on the host"):
                tick["ticks"]
    with pytest.raises(RingError, match="a subscriber is on one of 'auto', 'host', 'device', not 'gpu'"):
        Subscriber(name, on="gpu")


@GPUS
def test_subscriptions_of_a_process_share_one_mapping(device, name, start):
    producer = start(PRODUCER)
    producer.stdout.readline()
    ask(producer, 3)
    with Subscriber(name) as first, Subscriber(name) as second:
        assert first._device.slots is second._device.slots
        with first.latest() as one, second.latest() as other:
            assert one["ticks"].ptr == other["ticks"].ptr
            assert one.fetch("ticks").tolist() == other.fetch("ticks").tolist() == [3.0] * 4
        assert first._segment.ring.mappers() == [first._device.slots._pid]
        ring = first._segment.ring
    del first, second, one, other
    wait_for(lambda: not ring.mappers())
    for _ in range(3):  # subscribe anew
        with Subscriber(name) as again, again.latest() as tick:
            assert tick.fetch("ticks").tolist() == [3.0] * 4


@GPUS
def test_a_subscriber_goes_on_with_the_next_life_of_a_killed_producer(device, name, start):
    first = start(PRODUCER)
    generation = int(first.stdout.readline())
    with Subscriber(name) as subscriber:
        ask(first, 7)
        held = subscriber.next()
        first.send_signal(signal.SIGKILL)
        assert first.wait(60) == -signal.SIGKILL
        held.release()
        second = start(PRODUCER)
        assert int(second.stdout.readline()) == generation + 1
        ask(second, 2)
        with subscriber.next(timeout=60) as tick:
            assert tick.fetch("ticks").tolist() == [2.0] * 4
        assert subscriber.statistics()["switches"] == 1
        assert subscriber.offer.pid == second.pid
        second.stdin.close()
        assert second.wait(60) == 0


@GPUS
def test_memory_stays_until_its_last_reader_leaves(device, name, transport, start):
    publisher, stepper = opened(device, name, transport)
    stepper.tick()
    reader = start(READER)
    assert reader.stdout.readline() == "ready\n"
    assert ask(reader, "") == "1.0 1.0 1.0 1.0"
    with pytest.warns(RuntimeWarning, match=f"stay until the processes leave that still map them: pid {reader.pid};"):
        publisher.close()
    del publisher, stepper
    gc.collect()
    device.arena.trim()
    kept, before = outliving(), free(device)
    assert kept > 0
    reader.stdin.close()
    assert reader.wait(60) == 0
    wait_for(lambda: not outliving())
    wait_for(lambda: free(device) >= before + kept)


@GPUS
def test_a_killed_reader_keeps_nothing(device, name, transport, start):
    publisher, stepper = opened(device, name, transport)
    stepper.tick()
    reader = start(READER)
    assert reader.stdout.readline() == "ready\n"
    assert publisher.ring.mappers() == [reader.pid]
    (listed,) = [ring for ring in rings() if ring.name == name]
    assert (listed.device_transport, listed.mapped_by) == (transport, (reader.pid,))
    reader.kill()
    reader.wait(60)
    assert publisher.ring.mappers() == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        publisher.close()


@GPUS
def test_many_reconfigurations_leave_the_memory_flat(device, name, transport, start, monkeypatch):
    monkeypatch.setattr("sim_node.bridge.exported.LOOK_S", 0.005)
    publisher, stepper = opened(device, name, transport)
    follower = start(FOLLOWER)
    assert ask(follower, publisher.generation) == "0.0"
    before = None
    for number in range(30 if absent() else 100):  # a simulated GPU takes a third of a second each
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            publisher.close()
        del publisher, stepper
        publisher, stepper = opened(device, name, transport, size=4 + 500 * number)
        stepper.tick(2)
        assert ask(follower, publisher.generation) == "2.0"
        wait_for(lambda: not outliving())
        if number == 10:
            before = free(device)
    gc.collect()
    assert abs(free(device) - before) < 64 << 20  # one block of the arena, by which it grows
    with pytest.warns(RuntimeWarning, match=rf"pid {follower.pid}; the ring is closed"):
        publisher.close()
    follower.stdin.close()
    assert follower.wait(60) == 0
    wait_for(lambda: not outliving())


@GPUS
def test_other_processes_are_told_of_another_gpu(device, name, transport, start, monkeypatch):
    publisher, _ = opened(device, name, transport)
    monkeypatch.setattr(device, "uuid", "GPU-00000000-0000-0000-0000-000000000000")
    offered = publisher.exported.offer(publisher.generation)
    assert offered.uuid == device.uuid
    publisher.close()
    producer = start(PRODUCER)
    producer.stdout.readline()
    with pytest.warns(RuntimeWarning, match=r"ticks, told do not come: the fields lie on another GPU, .*CUDA_VISIB"):
        subscriber = Subscriber(name)
    with subscriber:
        assert subscriber.ways["ticks"].transport == ""
        assert "another GPU" in str(subscriber.ways["ticks"])
        ask(producer, 1)
        with subscriber.next() as tick:
            assert tick["seen"].tolist() == [2.0] * 4
            with pytest.raises(KeyError, match="field 'ticks' does not come: the fields lie on another GPU"):
                tick["ticks"]
    with pytest.raises(RingError, match=re.escape(f"ring '{name}': the fields lie on another GPU")):
        Subscriber(name, on="device")


@GPUS
@pytest.mark.parametrize("transport", ["vmm"], indirect=True)
def test_memory_that_is_not_handed_out_does_not_come_and_says_why(device, name, transport, start, monkeypatch):
    producer = start(PRODUCER)
    producer.stdout.readline()
    monkeypatch.setattr(handover, "_address", lambda handle: b"\0sim_node.nobody" + handle)  # as in another network
    monkeypatch.setattr(mapped, "namespace", lambda kind: 1)
    why = rf"cannot be mapped: the producer \(pid {producer.pid}\) does not hand its memory out: .*\n.*--network=host"
    with pytest.warns(RuntimeWarning, match=rf"ticks, told do not come: the fields on .* {why}"):
        subscriber = Subscriber(name)
    with subscriber:
        assert subscriber.ways["ticks"].transport == ""
        assert subscriber._segment.ring.mappers() == []
        ask(producer, 1)
        with subscriber.next() as tick:
            assert tick["seen"].tolist() == [2.0] * 4
    with pytest.raises(RingError, match=why):
        Subscriber(name, on="device")


def test_an_unknown_transport_says_so(simulate, name):
    device = simulate().device
    publisher, _ = opened(device, name, "vmm")
    with publisher:
        offer = replace(publisher.exported.offer(publisher.generation), transport="smoke")
        with pytest.raises(RingError, match="come by 'smoke', which this version does not know"):
            mapped.Mapped(publisher.ring, offer)


@GPUS
def test_a_leased_slot_is_never_written_and_a_released_one_is_known_to_be(device, name, transport):
    publisher, stepper = opened(device, name, transport)
    with publisher, Subscriber(publisher) as subscriber:
        stepper.tick()
        held = subscriber.next()
        array = held["ticks"]
        assert held.fetch("ticks").tolist() == [1.0] * 4
        stepper.tick(20)
        assert held.fetch("ticks").tolist() == [1.0] * 4
        assert held.intact
        held.release()
        assert held.intact
        stepper.tick(20)
        assert not held.intact
        assert array.ptr  # the array may be kept; it shows another tick by now
        with pytest.raises(ValueError, match="the tick was released"):
            held.fetch("ticks")


@GPUS
def test_the_same_process_gets_the_array_itself(device, name, transport):
    publisher, stepper = opened(device, name, transport)
    with publisher, Subscriber(publisher) as inside, Subscriber(name) as by_name:
        stepper.tick(4)
        for subscriber in (inside, by_name):
            assert subscriber.ways["ticks"].transport == "in_process"
            with subscriber.latest() as tick:
                slots = publisher.exported
                assert tick["ticks"].ptr == slots.address + tick.slot * slots.stride + slots.layout["ticks"].offset
                assert np.array_equal(tick.fetch("ticks"), [4.0] * 4)
        assert publisher.ring.mappers() == []


RUNNER = """
publisher, stepper = open_ring(size=5000)
tell("ready")
count = int(sys.stdin.readline())
stepper.run(1000, ticks=count, clock="free")
tell(stepper.step)
sys.stdin.readline()
publisher.close()
"""


@GPUS
def test_a_slot_never_mixes_ticks(device, name, start):
    """Each element says how many ticks there were, and the producer runs as fast as it can."""
    producer = start(RUNNER)
    assert producer.stdout.readline() == "ready\n"
    with Subscriber(name, on="device") as subscriber:
        producer.stdin.write("3000\n")
        producer.stdin.flush()
        step = 0
        while step < 3000:
            with subscriber.next(timeout=60) as tick:
                step = tick.step
                for field in ("ticks", "told", "place"):
                    values = tick.fetch(field)
                    assert np.array_equal(values[..., 0] if field == "place" else values, np.full(5000, step))
                assert tick.intact
        assert subscriber.statistics()["taken"] > 1
