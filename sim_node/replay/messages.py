"""Keyframes and records as messages: one table, for bags written offline and for ROS alike."""

from __future__ import annotations

import array
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from sim_node.errors import BagError
from sim_node.layout import Layout
from sim_node.plant import Keyframe, Records
from sim_node.replay.hashes import field_hashes

KEYFRAME = "sim_node/msg/Keyframe"
RECORD = "sim_node/msg/Record"
TICK = "sim_node/msg/Tick"
RING = "sim_node/msg/Ring"
UNANSWERED = "sim_node/msg/Unanswered"

NS = 1_000_000_000
STATE_LIMIT = 64 << 20  # bytes of state in a keyframe's message


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one side writes messages: ``type`` finds a class by name, ``sequence`` makes a numpy array a field."""

    type: Callable[[str], Any]
    sequence: Callable[[np.ndarray[Any, Any]], Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """A record message: the records, the generation of their ring and whether each tick's inputs are as recorded.

    ``intact`` is bool[count]: false where the recorded bytes do not agree with the hash recorded beside them.
    """

    records: Records
    generation: int
    intact: np.ndarray[Any, Any]


def definitions() -> dict[str, str]:
    """Read the texts of the package's message types: type name → text.

    They are installed beside the package; a source checkout has them one folder up.
    """
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "msg", package.parent / "msg"):
        texts = {f"sim_node/msg/{file.stem}": file.read_text("utf-8") for file in sorted(folder.glob("*.msg"))}
        if texts:
            return texts
    raise BagError(f"{package / 'msg'}: the message definitions are missing; install sim_node again")


@functools.cache
def store() -> Typestore:
    """Register the package's message types beside those of ROS 2; made once."""
    types = get_typestore(Stores.ROS2_JAZZY)
    ours: Any = {}
    for name, text in definitions().items():
        ours.update(get_types_from_msg(text, name))
    types.register(ours)
    return types


def check_definition(name: str, text: str) -> None:
    """Raise BagError when a bag's own definition of one of our types is not the one that this version reads."""
    try:
        theirs = get_types_from_msg(text, name)[name][1]
    except Exception as fault:  # the parser meets a damaged text anywhere, in any way
        raise BagError(f"the definition of {name} in this bag is damaged: {str(fault).splitlines()[0]}") from fault
    ours = store().fielddefs[name][1]
    if theirs != ours:
        changed = [have[0] for have in theirs if have not in ours] + [have[0] for have in ours if have not in theirs]
        raise BagError(
            f"{name} in this bag differs in '{changed[0] if changed else 'order of fields'}' from this version's; "
            "verify it with the version that recorded it"
        )


def _ros_type(name: str) -> Any:
    package, _, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), kind)


def _ros_sequence(values: np.ndarray[Any, Any]) -> Any:
    return array.array({"uint8": "B", "uint64": "Q"}[values.dtype.name], values.tobytes())


BAG = Dialect(lambda name: store().types[name], lambda values: values)
ROS = Dialect(_ros_type, _ros_sequence)


def _bytes(values: Any) -> np.ndarray[Any, Any]:
    return np.frombuffer(values, np.uint8) if len(values) else np.zeros(0, np.uint8)


def time_message(ns: int, dialect: Dialect) -> Any:
    """Convert nanoseconds to a builtin_interfaces/Time; raises BagError after 68 years, which it cannot tell."""
    if ns >= NS << 31:
        raise BagError(f"{ns / NS:.3g} s of simulated time are more than a message's stamp can hold, 2^31 s")
    return dialect.type("builtin_interfaces/msg/Time")(sec=ns // NS, nanosec=ns % NS)


# Fields of a keyframe that message and dataclass hold under the same name in the same form.
_SAME = (
    "step", "plant", "parameters", "plan_digest", "seed", "dt_ns", "substeps", "target", "versions", "reproducible",
)  # fmt: skip


def trimmed(keyframe: Keyframe) -> Keyframe | None:
    """Make a keyframe fit a message: one whose state is too large goes without it at step 0, and not at all later."""
    if len(keyframe.state) <= STATE_LIMIT:
        return keyframe
    return None if keyframe.step else replace(keyframe, state=b"")


def keyframe_message(keyframe: Keyframe, generation: int, dialect: Dialect = BAG) -> Any:
    """Convert a keyframe to its message."""
    return dialect.type(KEYFRAME)(
        stamp=time_message(keyframe.step * keyframe.dt_ns, dialect),
        generation=generation,
        layout=keyframe.layout.text(),
        layout_digest=keyframe.layout.digest,
        input_layout=keyframe.input_layout.text(),
        state=dialect.sequence(_bytes(keyframe.state)),
        inputs=dialect.sequence(_bytes(keyframe.inputs)),
        **{name: getattr(keyframe, name) for name in _SAME},
    )


def keyframe_of(message: Any) -> tuple[Keyframe, int]:
    """Convert a keyframe's message back; returns it and its generation.

    Raises BagError when its layouts do not parse or its state does not fit them.
    """
    try:
        layout, input_layout = Layout.parse(message.layout), Layout.parse(message.input_layout)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise BagError(f"keyframe of step {message.step}: its layout is malformed: {fault}") from fault
    if layout.digest != message.layout_digest:
        raise BagError(f"keyframe of step {message.step}: its layout does not agree with its digest")
    for what, data, wanted in (("state", message.state, layout.size), ("inputs", message.inputs, input_layout.size)):
        if len(data) != wanted and (what == "inputs" or len(data)):
            raise BagError(f"keyframe of step {message.step}: {what} of {len(data)} bytes, the layout says {wanted}")
    keyframe = Keyframe(
        layout=layout,
        input_layout=input_layout,
        state=bytes(message.state),
        inputs=bytes(message.inputs),
        **{name: getattr(message, name) for name in _SAME},
    )
    return keyframe, message.generation


def record_message(records: Records, generation: int, dialect: Dialect = BAG) -> Any:
    """Convert drained records to their message."""
    count, fields = records.hashes.shape
    return dialect.type(RECORD)(
        generation=generation,
        first_step=records.first_step,
        count=count,
        lost=records.lost,
        fields=fields,
        hashes=dialect.sequence(records.hashes.reshape(-1)),
        input_bytes=records.inputs.shape[1],
        inputs=dialect.sequence(records.inputs.reshape(-1)),
        input_hashes=dialect.sequence(field_hashes(records.inputs)),
    )


def unanswered_message(records: Records, generation: int, dt_ns: int, dialect: Dialect = BAG) -> Any:
    """Tell which of drained records are of ticks for which an input had no answer in time."""
    which = records.unanswered.nonzero()[0]
    steps = (which + records.first_step).astype(np.uint64)
    return dialect.type(UNANSWERED)(
        generation=generation,
        stamps=[time_message(int(step) * dt_ns, dialect) for step in steps],
        steps=dialect.sequence(steps),
        inputs=dialect.sequence(records.unanswered[which]),
    )


def batch_of(message: Any) -> Batch:
    """Convert a record's message back.

    Raises BagError when its counts contradict its arrays.
    """
    count, fields, width = int(message.count), int(message.fields), int(message.input_bytes)
    sizes = ((message.hashes, count * fields), (message.inputs, count * width), (message.input_hashes, count))
    if not count or any(len(values) != size for values, size in sizes):
        raise BagError(f"record of step {message.first_step}: counts and arrays contradict each other")
    hashes = np.asarray(message.hashes, np.uint64).reshape(count, fields)
    inputs = np.asarray(message.inputs, np.uint8).reshape(count, width)
    unanswered = np.zeros(count, np.uint64)  # a message of its own tells them
    records = Records(int(message.first_step), count, hashes, inputs, unanswered, int(message.lost))
    return Batch(records, int(message.generation), field_hashes(inputs) == np.asarray(message.input_hashes, np.uint64))


def serialise(message: Any, name: str) -> memoryview:
    """Serialise a message of the BAG dialect (CDR)."""
    return store().serialize_cdr(message, name)


def deserialise(raw: bytes, name: str) -> Any:
    """Read a serialised message (CDR); raises BagError when it is malformed."""
    try:
        return store().deserialize_cdr(raw, name)
    except Exception as fault:  # generated code meets a damaged message anywhere, in any way
        raise BagError(f"a {name} message is malformed: {type(fault).__name__}: {fault}") from fault
