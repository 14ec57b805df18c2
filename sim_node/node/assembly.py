"""What configure builds from plant and settings: the ring, the stepper that fills it, and the clock that drives it."""

from __future__ import annotations

from contextlib import ExitStack

from rclpy.lifecycle import LifecycleNode

from sim_node.bridge import Publisher
from sim_node.node.clock import Clock, clock_for
from sim_node.node.settings import Settings
from sim_node.plant import Plant, Stepper


class Assembly:
    """A plant with its ring, stepper and clock; made on entering, released on leaving.

    Attributes: ``stepper``, ``publisher``, ``clock``; ``rebuild`` replaces all three.
    """

    stepper: Stepper
    publisher: Publisher
    clock: Clock

    def __init__(self, node: LifecycleNode, plant: Plant, settings: Settings) -> None:
        self._node, self.plant, self.settings = node, plant, settings
        self._made = ExitStack()

    def __enter__(self) -> Assembly:
        self.rebuild()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def rebuild(self) -> None:
        """Begin anew at step 0 with a ring of the next generation.

        So (generation, step) names one tick for all time, in a bag too; readers of the old ring find the new one by
        themselves, as after a restart. The clock stands still afterwards.
        """
        self._made.close()
        settings = self.settings
        with ExitStack() as making:
            stepper = Stepper(
                self.plant,
                dt_ns=settings.dt_ns,
                substeps=settings.substeps,
                seed=settings.seed,
                keyframe_every=settings.keyframe_every if settings.record else 0,
            )
            self.stepper = stepper
            self._made = making.pop_all()
