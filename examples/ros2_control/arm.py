"""The joints of an arm, each with its motor and drive: what ros2_control commands, and reads back."""

# mypy: disable-error-code="valid-type, untyped-decorator, no-untyped-def"
# (kernels are typed in the kernel language)

import sim_node as sn


@sn.kernel
def turn(
    position: sn.array(dtype=sn.float64),
    velocity: sn.array(dtype=sn.float64),
    wanted_position: sn.array(dtype=sn.float64),
    wanted_velocity: sn.array(dtype=sn.float64),
    stiffness: sn.float64,
    damping: sn.float64,
    friction: sn.float64,
    inertia: sn.float64,
    limit: sn.float64,
    dt: sn.float64,
    position_next: sn.array(dtype=sn.float64),
    velocity_next: sn.array(dtype=sn.float64),
    effort: sn.array(dtype=sn.float64),
):
    """One substep by the semi-implicit Euler method."""
    i = sn.tid()
    drive = stiffness * (wanted_position[i] - position[i]) + damping * (wanted_velocity[i] - velocity[i])
    torque = sn.clamp(drive, -limit, limit)
    v = velocity[i] + dt * (torque - friction * velocity[i]) / inertia
    velocity_next[i] = v
    position_next[i] = position[i] + dt * v
    effort[i] = torque


class Arm(sn.Plant):
    """Joints that drives turn, each against its own inertia and friction."""

    joints = sn.parameter(3, doc="number of joints", min=1, max=1000)
    inertia = sn.parameter(0.1, doc="of what a joint turns, motor included", unit="kg m²", min=1e-3, max=1e3)
    friction = sn.parameter(0.5, doc="viscous, of a joint", unit="N m s", min=0.0, max=1e3)
    stiffness = sn.parameter(60.0, doc="gain of a drive on position", unit="N m", min=0.0, max=1e5)
    damping = sn.parameter(6.0, doc="gain of a drive on velocity", unit="N m s", min=0.0, max=1e4)
    limit = sn.parameter(20.0, doc="largest torque of a drive", unit="N m", min=0.0, max=1e5)

    wanted_position = sn.input(sn.float64, shape="joints", unit="rad")
    wanted_velocity = sn.input(sn.float64, shape="joints", unit="rad/s")
    position = sn.state(sn.float64, shape="joints", unit="rad", publish=True)
    velocity = sn.state(sn.float64, shape="joints", unit="rad/s", publish=True)
    effort = sn.output(sn.float64, shape="joints", unit="N m", doc="torque of the drive in the last substep")

    def build(self, plan, dt):
        """Launch one thread a joint."""
        plan.launch(
            turn,
            dim=self.joints,
            inputs=[
                self.position, self.velocity, self.wanted_position, self.wanted_velocity,
                self.stiffness, self.damping, self.friction, self.inertia, self.limit, dt,
            ],
            outputs=[self.position.next, self.velocity.next, self.effort],
        )  # fmt: skip
