"""Plants with fields on a GPU, and processes with a simulated one, for tests of readers of such fields."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import sim_node as sn
from sim_node.plant import Plant

F32 = sn.array(dtype=sn.float32)
V3 = sn.array(dtype=sn.vec3)


@sn.kernel
def advance(ticks: F32, place: V3, seen: F32, ticks_next: F32, place_next: V3, seen_next: F32, told: F32):
    i = sn.tid()
    ticks_next[i] = ticks[i] + 1.0
    place_next[i] = place[i] + sn.vec3(1.0, 2.0, 3.0)
    seen_next[i] = seen[i] + 2.0
    told[i] = ticks[i] + 1.0


class Counted(Plant):
    """Fields for readers on the GPU, on the host and on both; each element says how many ticks there were."""

    size = sn.parameter(4, min=1)
    ticks = sn.state(sn.float32, shape="size", publish="device")
    place = sn.state(sn.vec3, shape="size", publish="both")
    seen = sn.state(sn.float32, shape="size", publish="host")
    told = sn.output(sn.float32, shape="size", publish="device")

    def build(self, plan, dt):
        plan.launch(
            advance,
            dim=self.size,
            inputs=[self.ticks, self.place, self.seen],
            outputs=[self.ticks.next, self.place.next, self.seen.next, self.told],
        )


# A process of its own, with the GPU of the machine or a simulated one
PRELUDE = """
import sys
sys.path[:0] = {paths!r}
import pytest
from devices import absent
if absent():
    from simulated import Gpu
    gpu = Gpu(pytest.MonkeyPatch())
from sim_node.bridge import Publisher, Subscriber
from sim_node.device.names import get_device
from sim_node.errors import RingError
from sim_node.plant import Stepper
from gpu_fields import Counted
name, transport, device = *sys.argv[1:], get_device("cuda:0")

def tell(*words):
    print(*words, flush=True)

def open_ring(size=4, slots=4):
    plant = Counted(size=size)
    publisher = Publisher(
        plant.host_layout, plant.input_layout, name, slots, device_layout=plant.device_layout, device=device,
        device_transport=transport,
    )
    return publisher, Stepper(plant, dt_ns=1000, ring=publisher.ring, slots=publisher.exported, device=device)
"""
PRODUCER = """
publisher, stepper = open_ring()
tell(publisher.generation)
for line in sys.stdin:
    stepper.tick(int(line))
    tell(stepper.step)
publisher.close()
"""


class Started:
    """Processes, and lines to and from each."""

    def __init__(self, *arguments: str) -> None:
        self._arguments, self._children = arguments, []

    def __call__(self, code: str) -> subprocess.Popen:
        test = Path(__file__).resolve().parent
        prelude = PRELUDE.format(paths=[str(test)])
        child = subprocess.Popen(
            [sys.executable, "-c", prelude + code, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        self._children.append(child)
        return child

    def end(self) -> None:
        """End what still runs: each leaves when its input ends."""
        for child in self._children:
            child.stdin.close()
            try:
                child.wait(60)
            finally:
                child.kill()
                child.wait()
                child.stdout.close()


def ask(child: subprocess.Popen, line: object) -> str:
    child.stdin.write(f"{line}\n")
    child.stdin.flush()
    return child.stdout.readline().strip()
