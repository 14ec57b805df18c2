"""Time histories out of a bag: fields that were never recorded, computed again tick by tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sim_node.errors import BagError
from sim_node.plant import Keyframe, Stepper
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.verify import build_stepper


@dataclass(frozen=True, slots=True)
class History:
    """Fields over ticks: ``seconds`` of simulated time (n,), and by name an array (n, *shape of the field)."""

    seconds: np.ndarray[Any, Any]
    values: dict[str, np.ndarray[Any, Any]]


def of_bag(path: str | Path, names: Sequence[str]) -> History:
    """Replay the life of the first keyframe in a bag of one plant; collect states, outputs and inputs after each tick.

    A recorder keeps no order between two topics, so records may lie before their keyframe.
    Raises BagError when the bag holds no keyframe, or records after it are missing.
    """
    start: Keyframe | None = None
    generation, batches = 0, []
    for entry in Bag(path):
        if entry.type == messages.KEYFRAME and start is None:
            start, generation = messages.keyframe_of(messages.deserialise(entry.raw, entry.type))
        elif entry.type == messages.RECORD:
            batches.append(messages.batch_of(messages.deserialise(entry.raw, entry.type)))
    if start is None:
        raise BagError(f"{path}: no history, since there is no keyframe to start from")
    rows: list[np.ndarray[Any, Any]] = []
    step = start.step
    for records in (batch.records for batch in batches if batch.generation == generation):
        if records.first_step != step + 1:
            raise BagError(f"{path}: no history, since records before tick {records.first_step} are missing")
        rows.append(records.inputs)
        step += records.count
    stepper = build_stepper(start, "")
    assert isinstance(stepper, Stepper)
    stepper.restore(start)
    return of_stepper(stepper, names, np.concatenate(rows) if rows else np.zeros((0, stepper.input_layout.size)))


def of_stepper(stepper: Stepper, names: Sequence[str], inputs: np.ndarray[Any, Any]) -> History:
    """Tick once for each row of ``inputs``, u8 (n, bytes of the inputs' layout), and collect fields after each."""
    first = stepper.step
    collected: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in names}
    for row in inputs:
        for field in stepper.input_layout:
            stepper.set(field.name, field.view(row.tobytes()))
        stepper.tick()
        for name, values in collected.items():
            values.append(stepper.get(name))
    seconds = np.arange(first + 1, first + 1 + len(inputs)) * (stepper.dt_ns * 1e-9)
    return History(seconds, {name: np.array(values) for name, values in collected.items()})
