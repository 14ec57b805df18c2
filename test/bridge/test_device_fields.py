"""Streams wait for the slot's event, the lease for the streams, and copies lie in pinned memory that is used again."""

import gc

import numpy as np
import pytest
from devices import GPUS

from sim_node import dtypes
from sim_node.bridge.device_fields import DeviceFields
from sim_node.bridge.exported import Exported
from sim_node.device.sharing import Choice
from sim_node.layout import Layout

LAYOUT = Layout.of([("x", dtypes.vec3, (5,), "m"), ("none", dtypes.float32, (0,), "")])


@pytest.fixture
def slots(device):
    made = Exported(LAYOUT, device, 2, Choice("cuda_ipc", ""))
    for number in range(4):
        words = np.full(15, number, np.float32)
        device.write(made.address + number * made.stride, words.ctypes.data, words.nbytes)
    return made


@GPUS
def test_copies_are_of_their_slot_and_their_memory_is_used_again(slots):
    fields = DeviceFields(slots, 2, None, {})
    first, second = fields.fetch(0, "x"), fields.fetch(1, "x")
    assert first.tolist() == [[0.0] * 3] * 5
    assert second.tolist() == [[1.0] * 3] * 5
    assert first.flags.writeable
    at = first.ctypes.data
    part = first[1:]
    del first
    assert fields.fetch(0, "x").ctypes.data != at  # a part keeps it
    del part
    gc.collect()
    assert fields.fetch(1, "x").ctypes.data == at
    assert fields.fetch(0, "none").shape == (0,)
    assert fields.fetch(0, "y") is None


def test_streams_wait_for_the_slots_event_where_it_has_not_come(simulate):
    """A wait for one that has come costs another process's reader the GPU's switch to the producer and back."""
    gpu = simulate()
    slots = Exported(LAYOUT, gpu.device, 2, Choice("cuda_ipc", ""))
    DeviceFields(slots, 2, 1234, {}).taken(1)
    assert gpu.driver.waited == []
    gpu.driver.late = True
    gpu.driver.calls.clear()
    DeviceFields(slots, 2, None, {}).taken(1)
    assert gpu.driver.waited == [(int(gpu.device.stream), 0)]
    gpu.driver.waited.clear()
    fields = DeviceFields(slots, 2, 1234, {})
    fields.taken(0)
    assert sorted(gpu.driver.waited) == [(int(gpu.device.stream), 0), (1234, 0)]
    fields.ended()
    assert gpu.driver.calls["cuStreamSynchronize"] == 2


def test_without_events_nothing_waits_when_a_tick_is_taken_and_the_lease_still_does(simulate):
    gpu = simulate()
    slots = Exported(LAYOUT, gpu.device, 2, Choice("vmm", ""))
    fields = DeviceFields(slots, 2, 1234, {})
    gpu.driver.calls.clear()
    fields.taken(1)
    assert (slots.events, gpu.driver.waited) == (0, [])
    fields.ended()
    assert gpu.driver.calls["cuStreamSynchronize"] == 2


def test_without_slots_there_is_nothing_to_wait_for():
    fields = DeviceFields(None, 0, None, {"x": "why"})
    fields.taken(0)
    fields.ended()
    assert (fields.fetch(0, "x"), fields.absent("x"), fields.absent("y")) == (None, "why", None)
