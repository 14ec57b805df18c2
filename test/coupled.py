"""Plants whose every tick shows in its value what it was told, and threads that run them."""

# mypy: disable-error-code="valid-type"

import os
import threading
from contextlib import ExitStack, contextmanager

import sim_node as sn
from sim_node.bridge import Publisher
from sim_node.plant import Stepper


@sn.kernel
def advance(
    x: sn.array(dtype=sn.float64), u: sn.array(dtype=sn.float64), gain: float, x_next: sn.array(dtype=sn.float64)
):
    i = sn.tid()
    x_next[i] = sn.float64(0.5) * x[i] + sn.float64(gain) * u[i] + sn.float64(1.0)


class Part(sn.Plant):
    """Two numbers that follow two others."""

    gain = sn.parameter(0.25)
    u = sn.input(sn.float64, shape=2, unit="N")
    x = sn.state(sn.float64, shape=2, unit="N", publish=True)
    way = sn.state(sn.float64, shape=2, unit="m", publish=True)
    small = sn.state(sn.float32, shape=2, publish=True)

    def build(self, plan, dt):
        plan.launch(advance, dim=2, inputs=[self.x, self.u, self.gain], outputs=[self.x.next])
        plan.launch(advance, dim=2, inputs=[self.way, self.u, self.gain], outputs=[self.way.next])
        plan.launch(count, dim=2, inputs=[self.small], outputs=[self.small.next])


@sn.kernel
def count(x: sn.array(dtype=sn.float32), x_next: sn.array(dtype=sn.float32)):
    i = sn.tid()
    x_next[i] = x[i] + 1.0


def named(name):
    """A node's name that no other process of these tests has."""
    return f"/{name}_{os.getpid()}"


class Runner:
    """A plant in this process with a ring that others find, whose clock runs in a thread."""

    def __init__(self, name, dt_ns, gain=0.25):
        self.name, self.dt_ns, self.gain = named(name), dt_ns, gain
        self.fault, self.hashes = None, []
        self.made = ExitStack()
        self.renew()

    def renew(self):
        """Make ring and stepper anew, as a reset does."""
        self.made.close()
        plant = Part(gain=self.gain)
        publisher = self.made.enter_context(Publisher(plant.layout, plant.input_layout, name=self.name))
        self.stepper = Stepper(plant, dt_ns=self.dt_ns, ring=publisher.ring, keyframe_every=0)

    @contextmanager
    def running(self, ticks, **pace):
        def run():
            try:
                given = {"clock": "lockstep", "limit_ns": 60 * 10**9, "miss": "stop", **pace}
                self.stepper.run(1_000_000, ticks=ticks, **given)
            except BaseException as fault:
                self.fault = fault

        self.thread = threading.Thread(target=run)
        self.thread.start()
        try:
            yield
        finally:
            self.stepper.stop()
            self.thread.join()
