"""Time histories out of a bag: fields that were never recorded, computed again tick by tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.errors import BagError
from sim_node.plant import Keyframe, Records, Stepper
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.verify import build_stepper, namespace


@dataclass(frozen=True, slots=True)
class History:
    """Fields over ticks: ``seconds`` of simulated time (n,), and by name an array (n, *shape of the field)."""

    seconds: np.ndarray[Any, Any]
    values: Mapping[str, np.ndarray[Any, Any]]


def of_bag(path: str | Path, names: Sequence[str]) -> History:
    """Replay a bag from its first keyframe and collect states, outputs and inputs after each tick, of that generation.

    Raises BagError when there is no keyframe, or records after it are missing.
    """
    start: Keyframe | None = None
    life: tuple[str, int] | None = None
    batches: list[tuple[tuple[str, int], Records]] = []  # a recorder keeps no order between keyframes and records
    for entry in Bag(path):
        if entry.type == messages.KEYFRAME and start is None:
            start, generation = messages.keyframe_of(messages.deserialise(entry.raw, entry.type))
            life = namespace(entry.topic), generation
        elif entry.type == messages.RECORD:
            batch = messages.batch_of(messages.deserialise(entry.raw, entry.type))
            batches.append(((namespace(entry.topic), batch.generation), batch.records))
    if start is None:
        raise BagError(f"{path}: no history, since there is no keyframe to start from")
    rows = [np.zeros((0, start.input_layout.size), np.uint8)]
    done = start.step
    for records in (records for belongs, records in batches if belongs == life):
        if records.first_step > done + 1:
            raise BagError(f"{path}: no history, since records before tick {records.first_step} are missing")
        rows.append(records.inputs[done + 1 - records.first_step :])
        done = max(done, records.first_step + records.count - 1)
    stepper = build_stepper(start, "")
    assert isinstance(stepper, Stepper)
    stepper.restore(start)
    return of_stepper(stepper, names, np.concatenate(rows))


def of_stepper(stepper: Stepper, names: Sequence[str], inputs: np.ndarray[Any, Any]) -> History:
    """Tick once for each row of ``inputs``, u8 (n, bytes of the inputs' layout), and collect fields after each.

    Raises KernelError when a kernel stops itself.
    """
    first = stepper.step
    replayed = stepper.replay(inputs, names)
    if replayed.stopped is not None:
        raise replayed.stopped
    seconds = np.arange(first + 1, first + 1 + len(inputs)) * (stepper.dt_ns * 1e-9)
    return History(seconds, replayed.values)
