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
from sim_node.device.sharing import Choice
from sim_node.errors import RingError
from sim_node.layout import Layout

LAYOUT = Layout.of([("x", dtypes.vec3, (100,), "m"), ("y", dtypes.float64, (), "")])


def opened(device, transport):
    return Publisher(Layout((), 0), slots=3, device_layout=LAYOUT, device=device, device_transport=transport)


@GPUS
def test_slots_lie_apart_in_an_allocation_of_their_own(device, transport):
    made = Exported(LAYOUT, device, 3, Choice(transport, ""))
    slots = [made.slot(i) for i in range(3 + SPARES)]
    places = [slot["x"].ptr for slot in slots]
    assert [place - made.address for place in places] == [i * made.stride for i in range(3 + SPARES)]
    assert slots[1]["y"].ptr == places[1] + LAYOUT["y"].offset
    assert made.stride % 256 == 0 <= made.stride - LAYOUT.size
    assert own[made.handle] is made
    handle = made.handle
    del made
    assert handle in own  # the arrays keep it
    del slots
    gc.collect()
    assert handle not in own


@GPUS
def test_a_ring_tells_of_them(device, transport):
    with opened(device, transport) as publisher:
        offer = Offer.parse(publisher.ring.device, publisher.ring)
        assert (offer.uuid, offer.layout, offer.memory) == (device.uuid, LAYOUT, publisher.exported.handle)
        assert len(offer.events) == (3 + SPARES if transport == "cuda_ipc" else 0)
        assert (offer.transport, offer.why) == (publisher.exported.transport, "asked for") == (transport, "asked for")
    with Publisher(LAYOUT) as publisher:
        assert publisher.ring.device == b""
        assert publisher.exported is None


@GPUS
def test_a_closed_rings_memory_stays_while_it_is_mapped(device, transport):
    publisher = opened(device, transport)
    ring, nbytes = publisher.ring, publisher.exported.memory.nbytes
    place = ring.enter_mapper()
    with pytest.warns(RuntimeWarning, match="stay until the processes leave that still map them: pid"):
        publisher.close()
    handle = publisher.exported.handle
    del publisher
    gc.collect()
    assert handle in own
    assert outliving() == nbytes >= ipc.PIECE
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
    with pytest.raises(RingError, match="come by one of 'auto', 'cuda_ipc', 'vmm', not 'fast'"):
        opened(gpu.device, "fast")
    large = Layout.of([("x", dtypes.float64, (1 << 28,), "")])
    for transport in ("auto", "cuda_ipc", "vmm"):
        with pytest.raises(RingError, match=r"on Simulated GPU: cuda:0 \(Simulated GPU\) cannot allocate"):
            Publisher(Layout((), 0), device_layout=large, device=gpu.device, device_transport=transport)
    gpu.driver.can_share = gpu.driver.can_export = False
    for transport, why in (("auto", "handles; .* by file"), ("cuda_ipc", "no inter-process"), ("vmm", "by file desc")):
        with pytest.raises(RingError, match=rf"cannot have fields on Simulated GPU: cuda:0 .*{why}"):
            opened(gpu.device, transport)


def test_descriptors_are_chosen_where_there_are_no_handles(simulate):
    gpu = simulate()
    with opened(gpu.device, "auto") as publisher:
        assert (publisher.exported.transport, publisher.exported.why) == ("cuda_ipc", "the first choice")
    gpu.driver.can_share = False
    with opened(gpu.device, "auto") as publisher:
        offer = Offer.parse(publisher.ring.device, publisher.ring)
        assert (offer.transport, offer.why) == ("vmm", "cuda:0 (Simulated GPU) has no inter-process handles")
        assert publisher.exported.events == 0
