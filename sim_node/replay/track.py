"""One plant's records in a bag, replayed from a keyframe and compared tick by tick."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from sim_node.errors import BagError, KernelError
from sim_node.layout import Layout
from sim_node.plant import Keyframe, Replayed
from sim_node.replay.messages import Batch
from sim_node.replay.report import Report, first_difference

# How long records wait for a keyframe that was recorded after them: a recorder keeps no order between two topics.
HOLD_NS = 2_000_000_000
KEYFRAMES_HELD = 16

UNREPRODUCIBLE = "the plan is not reproducible (fast_math or deterministic=False), so equal bits are not promised"


class Replayer(Protocol):
    """What verify needs of a stepper."""

    @property
    def state_layout(self) -> Layout: ...  # noqa: D102
    @property
    def input_layout(self) -> Layout: ...  # noqa: D102
    @property
    def plan_digest(self) -> str: ...  # noqa: D102
    def restore(self, keyframe: Keyframe) -> None: ...  # noqa: D102
    def reset(self) -> None: ...  # noqa: D102
    def replay(self, inputs: np.ndarray[Any, Any]) -> Replayed: ...  # noqa: D102
    def keyframe(self) -> Keyframe: ...  # noqa: D102


class ChangedLayoutError(BagError):
    """The plant has other fields than the keyframe: nothing can be compared."""


# Makes the stepper that a keyframe describes, of another plant if the text is not empty; may raise ChangedLayoutError.
Build = Callable[[Keyframe, str], Replayer]


class Track:
    """One plant's records in a bag, replayed as they come.

    ``position`` is the step whose state the stepper holds as recorded, or None when no keyframe has been met.
    """

    def __init__(self, topic: str, report: Report, build: Build, plant: str) -> None:
        self.topic = topic
        self.report = report
        self._build, self._plant = build, plant
        self._pending: deque[tuple[int, Batch]] = deque()
        self._keyframes: deque[tuple[int, Keyframe]] = deque()
        self._stepper: Replayer | None = None
        self._built_for: tuple[Any, ...] = ()
        self._generation = -1
        self._position: int | None = None
        self._last = 0
        self._tail_verified = False
        self._reason = "no keyframe before them"

    def keyframe(self, keyframe: Keyframe, generation: int) -> None:
        """Take a keyframe in; it is used when the records around it are replayed."""
        self.report.keyframes += 1
        self._keyframes.append((generation, keyframe))
        while len(self._keyframes) > KEYFRAMES_HELD:
            if self._pending:
                self._replay(self._pending.popleft()[1])
            else:
                self._keyframes.popleft()

    def batch(self, batch: Batch, now: int) -> None:
        """Take records in; replay those that have waited long enough."""
        self._pending.append((now, batch))
        while self._pending[0][0] + HOLD_NS <= now:
            self._replay(self._pending.popleft()[1])

    def finish(self) -> None:
        """Replay what still waits."""
        while self._pending:
            self._replay(self._pending.popleft()[1])

    def _replay(self, batch: Batch) -> None:
        records = batch.records
        first, last = records.first_step, records.first_step + records.count - 1
        self.report.ticks += records.count
        if batch.generation != self._generation:
            self._generation, self._position = batch.generation, None
            self._reason = "no keyframe before them"
        elif first != self._last + 1:
            missing = max(first - self._last - 1, 0)
            self.report.lost += missing
            self._position = None
            self._reason = f"{missing} ticks before them are missing" if missing else "the steps begin anew before them"
        begin = first
        for keyframe in self._take(first - 1, last):
            self._rows(batch, begin, keyframe.step)
            self._meet(keyframe)
            begin = keyframe.step + 1
        self._rows(batch, begin, last)
        self._last = last

    def _take(self, first: int, last: int) -> list[Keyframe]:
        """Take out the keyframes of steps ``first … last``, in order; of equal steps, as after a reset, the oldest."""
        found: dict[int, Keyframe] = {}
        for generation, keyframe in self._keyframes:
            if generation == self._generation and first <= keyframe.step <= last:
                found.setdefault(keyframe.step, keyframe)
        taken = [id(keyframe) for keyframe in found.values()]
        kept = [entry for entry in self._keyframes if id(entry[1]) not in taken]
        self._keyframes = deque(kept)
        return [found[step] for step in sorted(found)]

    def _meet(self, keyframe: Keyframe) -> None:
        """Compare a keyframe with the state that was computed, or start from it."""
        report, stepper = self.report, self._stepper
        if self._position == keyframe.step and stepper is not None and self._built_for == _identity(keyframe):
            if self._agrees(keyframe, stepper.keyframe()):
                return
            if self._tail_verified:  # by its hash; its keyframe says otherwise
                report.verified -= 1
                report.diverged += 1
        self._start(keyframe)

    def _agrees(self, keyframe: Keyframe, computed: Keyframe) -> bool:
        report, known = self.report, self.report.first_divergence
        wanted = known.field if known is not None and known.topic == self.topic else ""
        found = first_difference(keyframe.input_layout, keyframe.inputs, computed.inputs, wanted)
        if keyframe.state:
            found = first_difference(keyframe.layout, keyframe.state, computed.state, wanted) or found
        if found is None:
            return True
        report.diverge(self.topic, self._generation, keyframe.step, found[0])
        first = report.first_divergence
        if first is not None and first.topic == self.topic and first.values_tick is None and first.field == found[0]:
            _, first.index, first.recorded, first.computed, first.ulp = found
            first.values_tick = keyframe.step
        return False

    def _start(self, keyframe: Keyframe) -> None:
        """Make the stepper hold a keyframe's state, or say why it cannot."""
        self._position, self._tail_verified = None, False
        if not keyframe.reproducible:
            self.report.reproducible = False
            self._reason = UNREPRODUCIBLE
            return
        if not keyframe.state and keyframe.step:
            self._reason = "the keyframe before them holds no state and is not the first"
            return
        if self._stepper is None or self._built_for != _identity(keyframe):
            try:
                self._stepper, self._built_for = self._build(keyframe, self._plant), _identity(keyframe)
            except ChangedLayoutError as fault:
                self.report.plan_changed = True
                self._reason = str(fault)
                return
        stepper = self._stepper
        if stepper.plan_digest != keyframe.plan_digest:
            self.report.plan_changed = True
            self.report.note(f"the plan of {keyframe.plant} has changed since the recording")
        if keyframe.state:
            stepper.restore(keyframe)
        else:
            stepper.reset()
        self._position = keyframe.step

    def _rows(self, batch: Batch, first: int, last: int) -> None:
        """Replay the ticks ``first … last`` of a batch, or skip them when there is nothing to start from."""
        if first > last:
            return
        stepper, records = self._stepper, batch.records
        if self._position is not None and stepper is not None:
            widths = (len(stepper.state_layout.fields), stepper.input_layout.size)
            if widths != (records.hashes.shape[1], records.inputs.shape[1]):
                self._position, self._reason = None, "their records do not fit the layouts in the keyframe"
        if self._position is None or stepper is None:
            self.report.skip(self.topic, self._generation, first, last, self._reason)
            return
        replayed = stepper.replay(records.inputs[first - records.first_step : last + 1 - records.first_step])
        self._compare(batch, first, replayed.hashes)
        if replayed.stopped is not None:
            self._stop(first + len(replayed.hashes), last, replayed.stopped)

    def _stop(self, at: int, last: int, fault: KernelError) -> None:
        """Count the tick in which a kernel stopped itself as diverged, since it did not when it was recorded."""
        self.report.diverged += 1
        self.report.diverge(self.topic, self._generation, at, "")
        self.report.note(f"{self.topic}: the replay stopped at tick {at}: {str(fault).splitlines()[0]}")
        self._position, self._tail_verified = None, False
        self._reason = f"the replay stopped at tick {at}"
        if at < last:
            self.report.skip(self.topic, self._generation, at + 1, last, self._reason)

    def _compare(self, batch: Batch, begin: int, computed: np.ndarray[Any, Any]) -> None:
        """Count agreeing and differing ticks, and name the first that differs."""
        if not len(computed):
            return
        offset = begin - batch.records.first_step
        differs = batch.records.hashes[offset : offset + len(computed)] != computed
        altered = ~batch.intact[offset : offset + len(computed)]
        wrong = differs.any(axis=1) | altered
        self.report.diverged += int(wrong.sum())
        self.report.verified += int(len(wrong) - wrong.sum())
        self._tail_verified = not wrong[-1]
        self._position = begin + len(computed) - 1
        if wrong.any() and self._stepper is not None:
            at = int(wrong.argmax())
            inputs = self._stepper.input_layout.fields
            name = inputs[0].name if len(inputs) == 1 else "inputs"
            if not altered[at]:
                name = self._stepper.state_layout.fields[int(differs[at].argmax())].name
            self.report.diverge(self.topic, self._generation, begin + at, name)


def check_layouts(keyframe: Keyframe, state: Layout, inputs: Layout) -> None:
    """Raise ChangedLayoutError when a keyframe does not fit a plant's layouts."""
    for what, ours, theirs in (("state", state, keyframe.layout), ("inputs", inputs, keyframe.input_layout)):
        if ours.digest != theirs.digest:
            raise ChangedLayoutError(f"the layout of the {what} of {keyframe.plant} has changed since the recording")


def _identity(keyframe: Keyframe) -> tuple[Any, ...]:
    """Name all that a stepper is built from: steppers of equal identity differ in their state only."""
    return (keyframe.plant, keyframe.parameters, keyframe.dt_ns, keyframe.substeps, keyframe.seed)
