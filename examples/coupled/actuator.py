"""Valves of dampers, which follow the force that a skyhook controller wants, with a lag."""

# mypy: disable-error-code="valid-type"

import sim_node as sn


@sn.kernel
def follow(
    force: sn.array(dtype=float),
    velocity: sn.array(dtype=float),
    gain: float,
    lag: float,
    dt: float,
    force_next: sn.array(dtype=float),
):
    """Move towards the wanted force."""
    i = sn.tid()
    force_next[i] = force[i] + (-gain * velocity[i] - force[i]) * (dt / lag)


class Actuator(sn.Plant):
    """One valve a corner."""

    corners = sn.parameter(4, doc="number of valves", min=1)
    gain = sn.parameter(3000.0, doc="force against the body's velocity", unit="N s/m", min=0.0)
    lag = sn.parameter(0.005, doc="time constant of the valve", unit="s", min=1e-3)
    velocity = sn.input(float, shape="corners", unit="m/s", doc="of the body, upwards")
    force = sn.state(float, shape="corners", unit="N", doc="on the body, upwards", publish=True)

    def build(self, plan, dt):
        """One launch a tick."""
        plan.launch(
            follow,
            dim=self.corners,
            inputs=[self.force, self.velocity, self.gain, self.lag, dt],
            outputs=[self.force.next],
        )
