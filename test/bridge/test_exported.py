"""The producer's slots on a GPU: apart from all else, told to others, and kept for whoever still maps them."""

import gc
import time

import pytest
from devices import GPUS

from sim_node import dtypes
from sim_node._native import SPARES
from sim_node.bridge import Publisher
from sim_node.bridge.exported import Exported, outliving, own
from sim_node.bridge.offer import Offer
from sim_node.device import ipc
from sim_node.errors import RingError
from sim_node.layout import Layout

LAYOUT = Layout.of([("x", dtypes.vec3, (100,), "m"), ("y", dtypes.float64, (), "")])


@GPUS
def test_slots_lie_apart_in_an_allocation_of_their_own(device):
    made = Exported(LAYOUT, device, 3)
    slots = [made.slot(i) for i in range(3 + SPARES)]
    places = [slot["x"].ptr for slot in slots]
    assert [place - made.address for place in places] == [i * made.stride for i in range(3 + SPARES)]
    assert slots[1]["y"].ptr == places[1] + LAYOUT["y"].offset
    assert made.stride % 256 == 0 <= made.stride - LAYOUT.size
    assert own[made.memory.handle] is made
    handle = made.memory.handle
    del made
    assert handle in own  # the arrays keep it
    del slots
    gc.collect()
    assert handle not in own


@GPUS
def test_a_ring_tells_of_them(device):
    with Publisher(Layout((), 0), slots=3, device_layout=LAYOUT, device=device) as publisher:
        offer = Offer.parse(publisher.ring.device, publisher.ring)
        assert (offer.uuid, offer.layout, offer.memory) == (device.uuid, LAYOUT, publisher.exported.memory.handle)
        assert len(offer.events) == 3 + SPARES
        assert offer.transport == publisher.exported.transport == "cuda_ipc"
    with Publisher(LAYOUT) as publisher:
        assert publisher.ring.device == b""
        assert publisher.exported is None


@GPUS
def test_a_closed_rings_memory_stays_while_it_is_mapped(device):
    publisher = Publisher(Layout((), 0), slots=3, device_layout=LAYOUT, device=device)
    ring = publisher.ring
    place = ring.enter_mapper()
    with pytest.warns(RuntimeWarning, match="stay until the processes leave that still map them: pid"):
        publisher.close()
    handle = publisher.exported.memory.handle
    del publisher
    gc.collect()
    assert handle in own
    assert outliving() == ipc.PIECE
    with pytest.raises(OSError, match="the producer closed the ring"):
        ring.enter_mapper()
    ring.leave_mapper(place)
    while outliving():
        time.sleep(0.01)
    with pytest.raises(IndexError, match="place 64 is not below 64"):
        ring.leave_mapper(64)


def test_what_a_gpu_cannot_share_is_refused(simulate):
    gpu = simulate()
    with pytest.raises(RingError, match=r"ring 'anonymous' has fields on a GPU: say which, device=get_device"):
        Publisher(Layout((), 0), device_layout=LAYOUT)
    gpu.driver.can_share = False
    with pytest.raises(RingError, match=r"cannot have fields on Simulated GPU: cuda:0 .* has no inter-process handles"):
        Publisher(Layout((), 0), device_layout=LAYOUT, device=gpu.device)
    gpu.driver.can_share = True
    large = Layout.of([("x", dtypes.float64, (1 << 28,), "")])
    with pytest.raises(RingError, match=r"on Simulated GPU: cuda:0 \(Simulated GPU\) cannot allocate"):
        Publisher(Layout((), 0), device_layout=large, device=gpu.device)
