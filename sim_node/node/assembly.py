"""What configure builds from plant and settings: the ring, the stepper that fills it, and the clock that drives it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from rclpy.lifecycle import LifecycleNode

from sim_node.bridge import Publisher
from sim_node.device.cuda import Cuda
from sim_node.device.names import get_device
from sim_node.device.sharing import choose
from sim_node.errors import PlantError
from sim_node.node.clock import Clock, clock_for
from sim_node.node.settings import Settings
from sim_node.plant import Plant, Stepper
from sim_node.plant.fault_table import FaultTable
from sim_node.plant.faultable import TABLE


class Assembly:
    """A plant with its ring, stepper and clock; made on entering, released on leaving.

    ``scheduled`` are faults by name, as ``FaultTable.inject`` takes them, that each run begins with.
    Attributes: ``plant``, ``settings``, ``running`` (between start and stop);
    ``publisher``, ``stepper``, ``clock`` and ``faults``, which ``rebuild`` replaces.
    Raises, on entering, PlantError for what the plant cannot be built with, or a fault that it cannot have.
    """

    stepper: Stepper
    publisher: Publisher
    clock: Clock
    faults: FaultTable

    def __init__(
        self, node: LifecycleNode, plant: Plant, settings: Settings, scheduled: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._node, self.plant, self.settings, self._scheduled = node, plant, settings, scheduled
        self.running = False
        self._made = ExitStack()

    def __enter__(self) -> Assembly:
        self.rebuild()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def choose_clock(self, settings: Settings) -> None:
        """Take settings anew, of which only those that activate reads may differ, and the clock that they name."""
        self.settings = settings
        self.clock = clock_for(self.stepper, settings, self._node)

    @property
    def state(self) -> str:
        """What the clock does: running, paused, or inactive."""
        if not self.running:
            return "inactive"
        return "paused" if self.clock.paused else "running"

    def start(self) -> None:
        """Let the clock fire."""
        self.running = True
        self.clock.start()

    def stop(self) -> None:
        """Stop the clock; returns when the last tick is done."""
        self.clock.stop()
        self.running = False

    def rebuild(self) -> None:
        """Begin anew at step 0 with a ring of the next generation; the clock stands still afterwards.

        So (generation, step) names one tick for all time, in a bag too; readers of the old ring find the new one by
        themselves, as after a restart.
        """
        self._made.close()
        plant, settings, name = self.plant, self.settings, self._node.get_fully_qualified_name()
        with ExitStack() as making:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                self.publisher = making.enter_context(self._ring(name))
            for warning in told:
                self._node.get_logger().warning(str(warning.message))
            self.stepper = Stepper(
                plant,
                dt_ns=settings.dt_ns,
                substeps=settings.substeps,
                seed=settings.seed,
                ring=self.publisher.ring,
                keyframe_every=settings.keyframe_every if settings.record else 0,
                device=settings.device,
                slots=self.publisher.exported,
                name=name,
            )
            self._schedule()
            self.clock = clock_for(self.stepper, settings, self._node)
            self._made = making.pop_all()

    def apply_faults(self) -> None:
        """Let the plant take the faults as they are in the table, from the next tick on."""
        self.stepper.set(TABLE, self.faults.rows())

    def _schedule(self) -> None:
        """Begin with the faults that are scheduled, and no other."""
        self.faults = FaultTable(self.plant, self.settings.dt_ns)
        for name, asked in self._scheduled.items():
            try:
                self.faults.inject(asked, 0)
            except PlantError as fault:
                raise PlantError(f"faults.{name}: {fault}") from None
        if self._scheduled:
            self.apply_faults()

    def _ring(self, name: str) -> Publisher:
        """Make the ring; what is published for readers on a GPU comes on the host where that cannot share it."""
        plant, settings = self.plant, self.settings
        publisher = partial(
            Publisher,
            inputs=plant.input_layout,
            name=name,
            slots=settings.slots,
            exclusive=settings.exclusive,
            silence=settings.input_silence,
            transport=settings.transport,
            group=settings.group or None,
            huge_pages=settings.huge_pages,
            lease_limit=settings.lease_limit_ms * 1e-3,
        )
        wanted, device = plant.device_layout, get_device(settings.device)
        refused = f"the plant is stepped on {device}, which is no GPU"
        if wanted.size and isinstance(device, Cuda):
            choice = choose(device, settings.device_transport)
            if choice.transport:
                return publisher(
                    plant.host_layout,
                    device_layout=wanted,
                    device=device,
                    device_transport=settings.device_transport,
                )
            refused = choice.why
        for field in wanted:
            self._node.get_logger().warning(f"'{field.name}' is published on the host: {refused}")
        return publisher(plant.layout)
