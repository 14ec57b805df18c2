"""Rows of where variables lie: offsets in their block and in the state, bytes, and numbers of cells."""

from __future__ import annotations

import sim_node as sn
from sim_node.plant import Plant, Stepper
from sim_node.plant.places import Places


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
    places, plan = Places(plant), Stepper(plant, dt_ns=1000)._plan
    force, x, following, z = range(4)
    assert places.fields(plan) == ((0, 0, 0, 80, x, following), (1, 0, 128, 160, -1, z))
    assert places.inputs(plan) == ((0, 24, -1), (64, 4, force))
    assert places.private.size == 128
    ((number, nbytes, target),) = places.private_fields()
    assert (number, nbytes, repr(target)) == (0, 80, "self.x.next")
