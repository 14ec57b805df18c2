"""Proof that a bag replays: every recorded hash computed again from a keyframe and the recorded inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from sim_node.device.names import get_device
from sim_node.errors import BagError, DeviceError
from sim_node.plant import Keyframe, Stepper, reference
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.report import Report
from sim_node.replay.track import Build, Replayer, Track, check_layouts

# Told bytes read, bytes in all and ticks verified.
Progress = Callable[[int, int, int], None]


def build_stepper(keyframe: Keyframe, plant: str, device: str = "cpu") -> Replayer:
    """Build the stepper that a keyframe describes; ``plant`` replaces the plant it names unless empty."""
    try:
        parameters = json.loads(keyframe.parameters)
    except ValueError as fault:
        raise BagError(f"keyframe of step {keyframe.step}: its parameters are not JSON: {fault}") from fault
    if not isinstance(parameters, dict):
        raise BagError(f"keyframe of step {keyframe.step}: its parameters are not a JSON object")
    made = reference(plant or keyframe.plant)(**parameters)
    check_layouts(keyframe, made.state_layout, made.input_layout)
    return Stepper(made, dt_ns=keyframe.dt_ns, substeps=keyframe.substeps, seed=keyframe.seed, device=device)


def verify(
    path: str | Path,
    *,
    device: str = "cpu",
    plant: str = "",
    topics: Sequence[str] = (),
    progress: Progress | None = None,
    build: Build | None = None,
) -> Report:
    """Replay a bag and compare each tick; ``topics`` chooses plants by namespace, all by default.

    Raises BagError when the path is not a bag, or holds nothing that this version can read.
    """
    try:
        get_device(device)
    except DeviceError as absent:
        raise BagError(f"bags cannot be verified there: {absent}") from None
    build = build or partial(build_stepper, device=device)
    wanted = {f"/{topic.strip('/')}" for topic in topics}
    bag = Bag(path)
    report = Report(str(path), device)
    tracks: dict[str, Track] = {}
    checked: set[str] = set()
    for entry in bag:
        if entry.type not in (messages.KEYFRAME, messages.RECORD):
            continue
        space = namespace(entry.topic)
        if entry.definition and entry.definition not in checked:
            messages.check_definition(entry.type, entry.definition)
            checked.add(entry.definition)
        if space not in report.topics:
            report.topics.append(space)
        if wanted and space not in wanted and entry.topic not in wanted:
            continue
        if space not in tracks:
            tracks[space] = Track(space, report, build, plant)
        message = messages.deserialise(entry.raw, entry.type)
        if entry.type == messages.KEYFRAME:
            tracks[space].keyframe(*messages.keyframe_of(message))
        else:
            tracks[space].batch(messages.batch_of(message), entry.stamp_ns)
        if progress is not None:
            progress(bag.done, bag.nbytes, report.verified)
    report.torn, report.damage = bag.torn, bag.damage
    for track in tracks.values():
        track.finish()
    if topics and not tracks:
        raise BagError(f"{path}: no records under {', '.join(topics)}; there are {', '.join(report.topics) or 'none'}")
    return report


def namespace(topic: str) -> str:
    """Name the plant that a topic belongs to: ``/car/record`` is of ``/car``."""
    return topic.rsplit("/", 1)[0] or "/"
