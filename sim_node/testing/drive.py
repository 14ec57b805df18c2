"""A plant that a test drives: its stepper, its bag, and the process that controls it."""

from __future__ import annotations

import itertools
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.bridge import Publisher
from sim_node.bridge.inventory import inputs_of
from sim_node.errors import PlantError, SimNodeError
from sim_node.errors.suggestion import suggestion
from sim_node.plant import Keyframe, Plant, Stepper
from sim_node.replay.record import Recorder
from sim_node.replay.writer import BagWriter
from sim_node.testing.options import Options
from sim_node.testing.process import ControllerProcess

_numbers = itertools.count(1)


class Drive:
    """A plant at step 0, its bag open, its controller running, inside the block.

    Attributes: ``stepper``; ``start``, the first keyframe; ``names``, of what others find it by: those that stand in a
    command line in braces.
    """

    stepper: Stepper
    start: Keyframe

    def __init__(self, options: Options, bag: Path) -> None:
        self._options, self._bag = options, bag
        self.names: dict[str, str] = {}
        self._rows: list[np.ndarray[Any, Any]] = []
        self._process: ControllerProcess | None = None
        self._waits = options.command is not None
        self._due_ns = 0
        self._is_over = False
        self._made = ExitStack()

    def __enter__(self) -> Drive:
        options, plant = self._options, self._options.make()
        inputs = [field.name for field in plant.input_layout]
        for name in options.answers or ():
            if name not in inputs:
                raise PlantError(f"answers: {type(plant).__name__} has no input '{name}'{suggestion(name, inputs)}")
        with ExitStack() as making:
            self._open(making, plant)
            self.start = self.stepper.keyframe()
            if options.command is not None:
                command, log = list(options.command), self._bag.with_suffix(".log")
                for word, name in self.names.items():
                    command = [part.replace(f"{{{word}}}", name) for part in command]
                self._process = making.enter_context(ControllerProcess(command, log, self._controller_ended))
            self._meet(making)
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.drain()
        finally:
            self._is_over = True
            self._made.close()

    def _open(self, making: ExitStack, plant: Plant) -> None:
        """Make the stepper and what it is recorded by."""
        options, ring = self._options, None
        if options.command is not None:
            publisher = making.enter_context(Publisher(plant.layout, plant.input_layout, own_name()))
            self.names["ring"], ring = publisher.name, publisher.ring
        self.stepper = Stepper(
            plant,
            dt_ns=options.dt_ns,
            substeps=options.substeps,
            seed=options.seed,
            device=options.device,
            ring=ring,
            name=options.name,
        )
        writer = making.enter_context(BagWriter(self._bag, force=True))
        self._recorder = Recorder(self.stepper, writer, options.name, options.keyframe_every)
        self._recorder.begin()

    def _meet(self, making: ExitStack) -> None:
        """Do what has to be done when plant and controller are there."""

    @property
    def room(self) -> int:
        """How many ticks one call may do, at least 1."""
        return self._recorder.room

    def rows(self) -> np.ndarray[Any, Any]:
        """The inputs that each tick so far applied, u8 (n, bytes)."""
        self.drain()
        return np.concatenate([np.zeros((0, self.stepper.input_layout.size), np.uint8), *self._rows])

    def drain(self) -> None:
        """Bring all ticks into the bag."""
        self._rows += [records.inputs for records in self._recorder.drain()]

    def begin(self) -> None:
        """Let real time begin here, and wait for a controller that is a process to be there."""
        if self._waits and self._process is not None:
            self._process.wait(self._silent)
            self._waits = False
        self._due_ns = time.monotonic_ns()

    def tick(self, count: int) -> None:
        """Do ticks, at most ``room`` of them.

        Raises SimNodeError where the controller ended or did not answer; KernelError as the stepper.
        """
        try:
            if self._options.realtime and count == 1:
                self._due_ns += self.stepper.dt_ns
                time.sleep(max(self._due_ns - time.monotonic_ns(), 0) * 1e-9)
            self._tick(count)
        finally:
            self._tell()
        if self._process is not None and self._options.miss == "stop" and (gone := self._process.ended()):
            raise SimNodeError(f"after tick {self.stepper.step} {gone}")

    def _tick(self, count: int) -> None:
        options, stepper = self._options, self.stepper
        if options.realtime and count == 1:
            stepper.tick(1, self._due_ns)
        elif options.realtime:
            stepper.run(stepper.dt_ns, clock="native", ticks=count)
            self._due_ns = time.monotonic_ns()
        elif self._process is not None:
            limit_ns, answers = round(options.limit * 1e9), options.answers
            stepper.run(
                stepper.dt_ns, clock="lockstep", ticks=count, inputs=answers, limit_ns=limit_ns, miss=options.miss
            )
        else:
            stepper.tick(count)

    def _tell(self) -> None:
        """Record what was ticked, where it is time to."""
        self._rows += [records.inputs for records in self._recorder.tell()]

    def _controller_ended(self) -> None:
        """Wait for its answers no longer, in the thread that noticed."""
        if self._options.miss == "stop":
            self.stepper.stop()

    @property
    def _awaited(self) -> list[str]:
        names = self.stepper.commanded
        return [name for name in names if self._options.answers is None or name in self._options.answers]

    def _silent(self) -> list[str]:
        """Name the inputs that are waited for and to which nobody sends yet."""
        told = inputs_of(self.stepper.ring, self.stepper.input_layout)
        return [each.name for each in told if each.name in self._awaited and not each.writers]


def own_name() -> str:
    """A name that no other test has, in this process or beside it."""
    return f"rig_{os.getpid()}_{next(_numbers)}"
