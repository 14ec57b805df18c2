"""Rows of where variables lie: offsets in their block and in the state, bytes, and numbers of cells."""

from __future__ import annotations

import pytest
from devices import GPUS

import sim_node as sn
from sim_node.device.names import get_device
from sim_node.errors import PlantError
from sim_node.layout import Layout
from sim_node.plant import Plant, Stepper
from sim_node.plant.places import DEVICE, PRIVATE, PUBLISHED, Places


@sn.kernel
def step(f: sn.array(dtype=sn.float32), x: sn.array(dtype=sn.float32), y: sn.array(dtype=sn.float32),
         z: sn.array(dtype=sn.float64)):  # fmt: skip
    i = sn.tid()
    y[i] = x[i] + f[0]
    z[i] = sn.float64(x[i])


class Two(Plant):
    unused = sn.input(sn.float64, shape=3)
    force = sn.input(sn.float32, shape=1)
    x = sn.state(sn.float32, shape=20)
    z = sn.output(sn.float64, shape=20)

    def build(self, plan, dt):
        plan.launch(step, dim=20, inputs=[self.force, self.x], outputs=[self.x.next, self.z])


def test_rows_tell_places_and_cells():
    plant = Two()
    places, plan = Places(plant, get_device("cpu")), Stepper(plant, dt_ns=1000)._plan
    force, x, following, z = range(4)
    assert places.fields(plan) == (
        (PRIVATE, 0, 0, 80, x, following, -1),
        (PUBLISHED, 0, 128, 160, -1, z, -1),
    )
    assert places.inputs(plan) == ((0, 24, -1), (64, 4, force))
    assert places.private.size == 128
    assert [(nbytes, repr(target), seen) for nbytes, target, seen in places.written()] == [
        (80, "self.x.next", False),
        (160, "self.z", True),
    ]


class Apart(Plant):
    here = sn.state(sn.float32, shape=20, publish="host")
    both = sn.state(sn.float32, shape=20, publish="both")
    there = sn.state(sn.float32, shape=20, publish="device")
    own = sn.state(sn.float32, shape=20)


class Given:
    """Slots of a GPU."""

    def __init__(self, layout, device):
        self.layout, self.device = layout, device


def blocks(places):
    return {name: places._place(name) for name in ("here", "both", "there", "own")}


@GPUS
def test_fields_lie_where_their_readers_are(device):
    plant = Apart()
    shared = blocks(Places(plant, device, slots=Given(plant.device_layout, device)))
    assert shared == {
        "here": (PUBLISHED, 0, -1), "both": (DEVICE, 0, 128), "there": (DEVICE, 128, -1), "own": (PRIVATE, 0, -1),
    }  # fmt: skip
    alone = blocks(Places(plant, device))
    assert [block for block, *_ in alone.values()] == [PUBLISHED, PUBLISHED, PRIVATE, PRIVATE]
    on_host = blocks(Places(plant, get_device("cpu")))
    assert [block for block, *_ in on_host.values()] == [PUBLISHED, PUBLISHED, PUBLISHED, PRIVATE]


@GPUS
def test_slots_of_another_device_or_layout_are_refused(device):
    plant = Apart()
    with pytest.raises(PlantError, match="the slots on cpu were made for another device or layout than cuda:0"):
        Places(plant, device, slots=Given(plant.device_layout, get_device("cpu")))
    with pytest.raises(PlantError, match=r"another device or layout than cuda:0 and plant.device_layout"):
        Places(plant, device, slots=Given(Layout((), 0), device))
