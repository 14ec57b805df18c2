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
from sim_node.plant import Stepper
from sim_node.plant.value import array_of
from sim_node.replay import messages
from sim_node.replay.writer import BagWriter

BATCH = 512  # ticks a record message, of at most so many
BATCH_BYTES = 1 << 20
FLUSH_S = 1.0  # of wall time that a killed run may lose
GENERATION = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
    done, begun = Offline(), time.monotonic()
    flushed = begun
    stepper.reset()
    row = 8 * len(stepper.state_layout.fields) + stepper.input_layout.size
    batch = max(1, min(BATCH, BATCH_BYTES // max(row, 1)))
    varies = [line for line in lines if len(line.values) > 1]
    try:
        with _whole():
            _write_keyframe(stepper, writer, name, done)
        while done.ticks < ticks:
            until = min(ticks, done.ticks + batch)
            if keyframe_every:
                until = min(until, (done.ticks // keyframe_every + 1) * keyframe_every)
            try:
                _tick(stepper, lines if done.ticks == 0 else varies, done.ticks, until)
            finally:
                with _whole():
                    done.ticks += _write_records(stepper, writer, name)
            with _whole():
                if keyframe_every and done.ticks % keyframe_every == 0:
                    _write_keyframe(stepper, writer, name, done)
                if time.monotonic() - flushed > FLUSH_S:
                    writer.flush()
                    flushed = time.monotonic()
            if progress is not None:
                progress(done.ticks)
    except KeyboardInterrupt:
        done.interrupted = True
    done.wall_s = time.monotonic() - begun
    return done


@contextmanager
def _whole() -> Iterator[None]:
    """Let SIGINT and SIGTERM wait until the block is done: a message that is cut short tears the bag."""
    if threading.current_thread() is not threading.main_thread():  # no signal interrupts another thread
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda one, _: came.append(one)) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handling in before.items():
            signal.signal(number, handling)
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


def _write_records(stepper: Stepper, writer: BagWriter, name: str) -> int:
    count = 0
    while (records := stepper.drain()).count:
        count += records.count
        message = messages.record_message(records, GENERATION)
        stamp = (records.first_step + records.count - 1) * stepper.dt_ns
        writer.write(f"/{name}/record", messages.RECORD, stamp, messages.serialise(message, messages.RECORD))
    return count


def _write_keyframe(stepper: Stepper, writer: BagWriter, name: str, done: Offline) -> None:
    keyframe = messages.trimmed(stepper.keyframe())
    if keyframe is None:
        return
    raw = messages.serialise(messages.keyframe_message(keyframe, GENERATION), messages.KEYFRAME)
    writer.write(f"/{name}/keyframe", messages.KEYFRAME, keyframe.step * keyframe.dt_ns, raw)
    done.keyframes += 1
