import pytest

import sim_node as sn
from sim_node import dtypes
from sim_node.errors import PlantError
from sim_node.layout import Layout
from sim_node.plant import Plant, Stepper
from sim_node.plant.memory import GENERATION, SLOTS, ring_of

INPUTS = Layout.of([("force", dtypes.float32, (3,), "N")])


def test_the_ring_is_that_of_the_layouts():
    layout = Layout.of([("x", dtypes.float64, (10,), "m")])
    ring = ring_of(layout, INPUTS)
    assert (ring.slots, ring.generation, ring.slot_size) == (SLOTS, GENERATION, layout.size)
    assert (ring.layout, ring.inputs) == (layout.text().encode(), INPUTS.text().encode())
    assert ring.digest.hex() == layout.digest


@pytest.mark.parametrize("count", [1 << 45, 1 << 60])
def test_a_state_larger_than_memory_is_refused(count):
    layout = Layout.of([("x", dtypes.float64, (count,), "m")])
    with pytest.raises(PlantError, match=f"3 slots of {layout.size} bytes cannot be had: .*; make the plant smaller"):
        ring_of(layout, INPUTS)


def test_a_stepper_larger_than_memory_is_refused_before_anything_is_allocated():
    places = {f"place_{i}": sn.state(sn.vec3d, shape=2**31 - 1) for i in range(512)}
    Huge = type("Huge", (Plant,), places)
    with pytest.raises(PlantError, match=r"Huge: its state of 2.46e\+04 GiB needs .* GiB are available"):
        Stepper(Huge(), dt_ns=1)
