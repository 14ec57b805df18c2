"""Running a plant with no ROS, as fast as it steps, into a bag."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim_node.errors import PlantError
from sim_node.layout import Field
from sim_node.plant import Records, Stepper
from sim_node.plant.value import array_of
from sim_node.replay import messages
from sim_node.replay.writer import BagWriter
from sim_node.stop import handled

BATCH = 512  # ticks a record message, of at most so many
BATCH_BYTES = 1 << 20
FLUSH_S = 1.0  # of wall time that a killed run may lose
GENERATION = 1


@dataclass(frozen=True, slots=True)
class Timeline:
    """The values of an input over a run: one for all ticks, or one a tick, of which the last is held."""

    name: str
    values: np.ndarray[Any, Any]

    @staticmethod
    def of(field: Field, value: Any) -> Timeline:
        """Take one value for all ticks, as ``Stepper.set`` does, or an array of one a tick.

        Raises PlantError when it is neither.
        """
        shape = np.shape(value)
        if len(shape) == len(field.numpy_shape) + 1 and shape[0] and shape[1:] == field.numpy_shape:
            return Timeline(field.name, np.asarray(value))
        return Timeline(field.name, array_of(field, value)[np.newaxis])

    def at(self, tick: int) -> np.ndarray[Any, Any]:
        """Look up the value that tick number ``tick`` (from 0) applies."""
        value: np.ndarray[Any, Any] = self.values[min(tick, len(self.values) - 1)]
        return value


@dataclass(slots=True)
class Offline:
    """What an offline run did."""

    ticks: int = 0
    keyframes: int = 0
    wall_s: float = 0.0
    interrupted: bool = False


class Recorder:
    """Writes what a stepper does into a bag, under ``/name``: a keyframe, records, and a keyframe each so many ticks.

    Stamps are simulated time, so equal runs make equal bags. Whoever ticks calls ``begin`` first, asks ``room`` before
    ticks, and calls ``tell`` after them and ``drain`` at the end.
    Attributes: ``ticks`` and ``keyframes``, how many were written.
    """

    def __init__(self, stepper: Stepper, writer: BagWriter, name: str, keyframe_every: int = 0) -> None:
        self._stepper, self._writer, self._name, self._every = stepper, writer, name, keyframe_every
        row = 8 * len(stepper.state_layout.fields) + stepper.input_layout.size
        self._batch = max(1, min(BATCH, BATCH_BYTES // max(row, 1)))
        self._first, self._flushed = stepper.step, time.monotonic()
        self.ticks = self.keyframes = 0

    def begin(self) -> None:
        """Write the keyframe that replay starts from."""
        self._write_keyframe()

    @property
    def room(self) -> int:
        """How many ticks may be done before the next ``tell``, at least 1."""
        step = self._stepper.step
        room = self._batch - (step - self._first - self.ticks)
        return min(room, self._every - step % self._every) if self._every else room

    def tell(self) -> list[Records]:
        """Write a batch that is full, and the keyframe that is due; returns the records written."""
        step = self._stepper.step
        due = bool(self._every) and step % self._every == 0
        full = step - self._first - self.ticks >= self._batch
        written = self.drain() if due or full else []
        with _whole():
            if due:
                self._write_keyframe()
            if time.monotonic() - self._flushed > FLUSH_S:
                self._writer.flush()
                self._flushed = time.monotonic()
        return written

    def drain(self) -> list[Records]:
        """Write all records that wait; returns them."""
        written = []
        with _whole():
            while (records := self._stepper.drain()).count:
                written.append(records)
                stamp = (records.first_step + records.count - 1) * self._stepper.dt_ns
                self._write("record", messages.RECORD, stamp, messages.record_message(records, GENERATION))
                self.ticks += records.count
                if records.unanswered.any():
                    missed = messages.unanswered_message(records, GENERATION, self._stepper.dt_ns)
                    self._write("unanswered", messages.UNANSWERED, stamp, missed)
        return written

    def _write_keyframe(self) -> None:
        keyframe = messages.trimmed(self._stepper.keyframe())
        if keyframe is None:
            return
        stamp = keyframe.step * keyframe.dt_ns
        with _whole():
            self._write("keyframe", messages.KEYFRAME, stamp, messages.keyframe_message(keyframe, GENERATION))
        self.keyframes += 1

    def _write(self, topic: str, kind: str, stamp_ns: int, message: Any) -> None:
        self._writer.write(f"/{self._name}/{topic}", kind, stamp_ns, messages.serialise(message, kind))


def record_offline(
    stepper: Stepper,
    writer: BagWriter,
    *,
    name: str,
    ticks: int,
    keyframe_every: int = 0,
    inputs: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Offline:
    """Step a plant from reset and write its records and keyframes under ``/name``.

    Stamps are simulated time, so equal runs make equal bags. Ctrl-C ends the run early and leaves a whole bag.
    Raises PlantError for an unknown input; what a kernel raises comes through after the ticks before it are written.
    """
    known = {field.name: field for field in stepper.input_layout}
    strangers = [key for key in inputs or {} if key not in known]
    if strangers:
        raise PlantError(f"no input '{strangers[0]}'; there are {', '.join(known) or 'none'}")
    lines = [Timeline.of(known[key], value) for key, value in (inputs or {}).items()]
    begun, interrupted = time.monotonic(), False
    stepper.reset()
    varies = [line for line in lines if len(line.values) > 1]
    recorder = Recorder(stepper, writer, name, keyframe_every)
    try:
        recorder.begin()
        while (done := stepper.step) < ticks:
            try:
                _tick(stepper, varies if done else lines, done, min(ticks, done + recorder.room))
            except BaseException:
                recorder.drain()
                raise
            recorder.tell()
            if progress is not None:
                progress(stepper.step)
        recorder.drain()
    except KeyboardInterrupt:
        interrupted = True
    return Offline(recorder.ticks, recorder.keyframes, time.monotonic() - begun, interrupted)


@contextmanager
def _whole() -> Iterator[None]:
    """Let SIGINT and SIGTERM wait until the block is done: a message that is cut short tears the bag."""
    if threading.current_thread() is not threading.main_thread():  # no signal interrupts another thread
        yield
        return
    came: list[int] = []
    try:
        with handled(came.append):
            yield
    finally:
        for again in came:
            signal.raise_signal(again)


def _tick(stepper: Stepper, lines: list[Timeline], begin: int, until: int) -> None:
    """Tick from ``begin`` to ``until``; one native call for all ticks after the last change of an input."""
    for tick in range(begin, until):
        changing = any(tick + 1 < len(line.values) for line in lines)
        for line in lines:
            if tick < len(line.values) or tick == begin:
                stepper.set(line.name, line.at(tick))
        if not changing:
            stepper.tick(until - tick)
            return
        stepper.tick(1)
