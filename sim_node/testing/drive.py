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
from sim_node.plant import Keyframe, Stepper
from sim_node.replay.record import Recorder
from sim_node.replay.writer import BagWriter
from sim_node.testing.options import Options
from sim_node.testing.process import ControllerProcess

_numbers = itertools.count(1)


class Drive:
    """A plant at step 0, its bag open, its controller running, inside the block.

    Attributes: ``stepper``, ``start`` (the first keyframe), ``rows`` (the applied inputs of the ticks recorded so far,
    u8 (n, bytes)).
    """

    def __init__(self, options: Options, bag: Path) -> None:
        self._options, self._bag = options, bag
        self._rows: list[np.ndarray[Any, Any]] = []
        self._process: ControllerProcess | None = None
        self._waits = False
        self._due_ns = 0
        self._made = ExitStack()

    def __enter__(self) -> Drive:
        options, plant = self._options, self._options.make()
        inputs = [field.name for field in plant.input_layout]
        for name in options.answers or ():
            if name not in inputs:
                raise PlantError(f"answers: {type(plant).__name__} has no input '{name}'{suggestion(name, inputs)}")
        with ExitStack() as making:
            publisher = None
            if options.command is not None:
                name = f"rig_{os.getpid()}_{next(_numbers)}"  # no test beside this one has it
                publisher = making.enter_context(Publisher(plant.layout, plant.input_layout, name))
            self.stepper = Stepper(
                plant,
                dt_ns=options.dt_ns,
                substeps=options.substeps,
                seed=options.seed,
                device=options.device,
                ring=None if publisher is None else publisher.ring,
                name=options.name,
            )
            writer = making.enter_context(BagWriter(self._bag, force=True))
            self._recorder = Recorder(self.stepper, writer, options.name, options.keyframe_every)
            self._recorder.begin()
            self.start: Keyframe = self.stepper.keyframe()
            if publisher is not None and options.command is not None:
                command = [part.replace("{ring}", publisher.name) for part in options.command]
                log = self._bag.with_suffix(".log")
                self._process = making.enter_context(ControllerProcess(command, log, self._controller_ended))
                self._waits = True
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.drain()
        finally:
            self._made.close()

    @property
    def room(self) -> int:
        """How many ticks one call may do, at least 1."""
        return self._recorder.room

    @property
    def rows(self) -> np.ndarray[Any, Any]:
        """What each tick so far applied."""
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
            self._tick(count)
        finally:
            self._rows += [records.inputs for records in self._recorder.tell()]
        if self._process is not None and self._options.miss == "stop" and (gone := self._process.ended()):
            raise SimNodeError(f"after tick {self.stepper.step} {gone}")

    def _controller_ended(self) -> None:
        """Wait for its answers no longer, in the thread that noticed."""
        if self._options.miss == "stop":
            self.stepper.stop()

    def _tick(self, count: int) -> None:
        options, stepper = self._options, self.stepper
        if options.realtime:
            self._in_real_time(count)
        elif self._process is not None:
            limit_ns, answers = round(options.limit * 1e9), options.answers
            stepper.run(
                stepper.dt_ns, clock="lockstep", ticks=count, inputs=answers, limit_ns=limit_ns, miss=options.miss
            )
        else:
            stepper.tick(count)

    def _in_real_time(self, count: int) -> None:
        """Tick by the clock: a loop of the native one, or one tick at its instant where each is looked at."""
        stepper = self.stepper
        if count > 1:
            stepper.run(stepper.dt_ns, clock="native", ticks=count)
            self._due_ns = time.monotonic_ns()
            return
        self._due_ns += stepper.dt_ns
        time.sleep(max(self._due_ns - time.monotonic_ns(), 0) * 1e-9)
        stepper.tick(1, self._due_ns)

    def _silent(self) -> list[str]:
        """Name the inputs that are waited for and to which nobody sends yet."""
        told = inputs_of(self.stepper.ring, self.stepper.input_layout)
        awaited = self._options.answers if self._options.answers is not None else [each.name for each in told]
        return [each.name for each in told if each.name in awaited and not each.writers]
