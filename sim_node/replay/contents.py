"""What a bag holds, told without stepping anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sim_node.errors import BagError
from sim_node.plant import Keyframe
from sim_node.replay import messages
from sim_node.replay.bag import Bag
from sim_node.replay.verify import namespace


@dataclass(slots=True)
class Topic:
    """A topic of a bag."""

    topic: str
    type: str
    messages: int = 0


@dataclass(slots=True)
class Run:
    """The ticks of one generation of a plant, of which ``lost`` are missing; what a keyframe tells, if there is one."""

    topic: str
    generation: int
    ticks: int = 0
    first: int = 0
    last: int = 0
    lost: int = 0
    keyframes: int = 0
    plant: str = ""
    parameters: str = ""
    dt_ns: int = 0
    substeps: int = 0
    seed: int = 0
    target: str = ""
    versions: str = ""

    def meet(self, keyframe: Keyframe) -> None:
        """Count a keyframe and take over what it says of the plant."""
        self.keyframes += 1
        for name in ("plant", "parameters", "dt_ns", "substeps", "seed", "target", "versions"):
            setattr(self, name, getattr(keyframe, name))

    def extend(self, first: int, count: int) -> None:
        """Count the ticks of a record."""
        if self.ticks:
            self.lost += max(first - self.last - 1, 0)
        else:
            self.first = first
        self.ticks += count
        self.last = first + count - 1


@dataclass(slots=True)
class Contents:
    """A bag's topics and runs, and where it ends before its time."""

    bag: str
    storage: str
    bytes: int
    topics: list[Topic] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    torn: str = ""
    damage: str = ""


def contents(path: str | Path, progress: Callable[[int, int], None] | None = None) -> Contents:
    """Read through a bag and count. Raises BagError when it is none."""
    bag = Bag(path)
    found = Contents(str(path), bag.storage, bag.nbytes)
    topics: dict[str, Topic] = {}
    runs: dict[tuple[str, int], Run] = {}
    for entry in bag:
        topics.setdefault(entry.topic, Topic(entry.topic, entry.type)).messages += 1
        if entry.type not in (messages.KEYFRAME, messages.RECORD):
            continue
        try:
            message = messages.deserialise(entry.raw, entry.type)
            key = namespace(entry.topic), int(message.generation)
            run = runs.setdefault(key, Run(*key))
            if entry.type == messages.RECORD:
                run.extend(int(message.first_step), int(message.count))
            else:
                run.meet(messages.keyframe_of(message)[0])
        except BagError as fault:
            found.damage = str(fault)
        if progress is not None:
            progress(bag.done, bag.nbytes)
    found.torn, found.damage = bag.torn, bag.damage or found.damage
    found.topics, found.runs = list(topics.values()), list(runs.values())
    return found
