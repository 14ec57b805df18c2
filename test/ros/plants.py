"""Plants of a few lines, named by this file's path."""

# mypy: disable-error-code="valid-type"

from __future__ import annotations

import sim_node as sn


@sn.kernel
def follow(
    x: sn.array(dtype=sn.vec3),
    level: sn.array(dtype=sn.float64),
    force: sn.array(dtype=sn.vec3),
    push: sn.array(dtype=sn.float64),
    gain: float,
    dt: float,
    x_next: sn.array(dtype=sn.vec3),
    level_next: sn.array(dtype=sn.float64),
):
    i = sn.tid()
    x_next[i] = x[i] + (force[i] - x[i]) * (gain * dt)
    if i == 0:
        level_next[0] = level[0] + push[0]


class Follow(sn.Plant):
    """Points that follow a force."""

    points = sn.parameter(3, doc="how many", min=1, max=100)
    gain = sn.parameter(10.0, doc="how fast", unit="1/s", min=0.0, max=1e3)
    label = sn.parameter("none")
    force = sn.input(sn.vec3, shape="points", unit="N")
    push = sn.input(sn.float64)
    x = sn.state(sn.vec3, shape="points", unit="m", publish=True)
    level = sn.state(sn.float64)

    def build(self, plan, dt):
        plan.launch(
            follow,
            dim=self.points,
            inputs=[self.x, self.level, self.force, self.push, self.gain, dt],
            outputs=[self.x.next, self.level.next],
        )


class Broken(sn.Plant):
    """A plant whose author made a mistake."""

    mended = sn.parameter(False, doc="whether it builds")
    x = sn.state(sn.vec3, shape=3, publish=True)
    level = sn.state(sn.float64)
    force = sn.input(sn.vec3, shape=3)
    push = sn.input(sn.float64)

    def build(self, plan, dt):
        if not self.mended:
            raise ZeroDivisionError("the author divided by zero")
        plan.launch(
            follow,
            dim=3,
            inputs=[self.x, self.level, self.force, self.push, 1.0, dt],
            outputs=[self.x.next, self.level.next],
        )


@sn.kernel
def run_out(count: sn.array(dtype=sn.int32), room: sn.array(dtype=sn.float32), count_next: sn.array(dtype=sn.int32)):
    i = sn.tid()
    count_next[i] = count[i] + 1 + sn.int32(room[count[i]])


class RunsOut(sn.Plant):
    """A plant that reads beyond an array at tick 51."""

    room = sn.state(sn.float32, shape=50)
    count = sn.state(sn.int32, publish=True)

    def build(self, plan, dt):
        plan.launch(run_out, dim=1, inputs=[self.count, self.room], outputs=[self.count.next])
        plan.launch(keep, dim=50, inputs=[self.room], outputs=[self.room.next])


@sn.kernel
def keep(room: sn.array(dtype=sn.float32), room_next: sn.array(dtype=sn.float32)):
    i = sn.tid()
    room_next[i] = room[i]


class Apart(Follow):
    """The same points, for readers on the GPU that steps the plant."""

    x = sn.state(sn.vec3, shape="points", unit="m", publish="device")
    level = sn.state(sn.float64, publish="both")


@sn.kernel
def spin(rounds: sn.array(dtype=sn.int64), x_next: sn.array(dtype=sn.uint32)):
    i = sn.tid()
    x = sn.uint32(1)
    k = sn.int64(0)
    while k < rounds[0]:
        x = x * sn.uint32(1664525) + sn.uint32(1013904223)
        k += sn.int64(1)
    x_next[i] = x


class Stuck(sn.Plant):
    """A plant whose tick takes as long as it is told to."""

    rounds = sn.input(sn.int64)
    x = sn.state(sn.uint32, publish=True)

    def build(self, plan, dt):
        plan.launch(spin, dim=1, inputs=[self.rounds], outputs=[self.x.next])
