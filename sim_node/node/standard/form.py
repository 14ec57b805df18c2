"""What every standard message says of itself: its members, what each takes, and how a prototype is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sim_node.node.parameters import Declaration
from sim_node.node.standard.template import Array, Template
from sim_node.part import Part

Shape = tuple[int, ...]
FRAME = Declaration("frame_id", "", "Frame of the numbers (REP-105).")
STAMP = Declaration(
    "stamp",
    "simulated",
    "What the stamp is: simulated time (step * dt), or the node's clock when the message is made.",
    choices=("simulated", "clock"),
)
NUMPY = {"double": np.float64, "float": np.float32}  # by their names in messages


@dataclass(frozen=True, slots=True)
class Want:
    """What a member takes: in words, and whether numbers of a shape and type are that."""

    words: str
    takes: Callable[[Shape, np.dtype[Any]], bool]


class MisfitError(ValueError):
    """Options or parts that do not fit the message or each other."""


class Form(ABC):
    """How one type of message is filled by parts of the ring's fields.

    ``members`` says what each member takes, ``leading`` which of them there must be at least one of, ``options`` what
    else is asked of the user. ``channel`` is what members of other names take, if there may be any.
    """

    kind: ClassVar[type[Any]]
    members: ClassVar[Mapping[str, Want]]
    leading: ClassVar[tuple[str, ...]]
    options: ClassVar[tuple[Declaration, ...]] = ()
    channel: ClassVar[Want | None] = None

    @abstractmethod
    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make a message with all that stays the same, its numbers zero. Raises MisfitError."""

    @abstractmethod
    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View the members in the template's bytes, each in the shape of its part or one that reshapes to it.

        May leave the template's message changed.
        """

    def stamped(self, message: Any) -> Sequence[Any]:
        """List what has a header in a message."""
        return (message,)

    def stamps(self, template: Template) -> Sequence[Array]:
        """View the stamps in the template's bytes, as ``Template.stamps`` does. May leave its message changed."""
        return [template.stamps(1, stamped) for stamped in self.stamped(template.message)]

    @classmethod
    def name(cls) -> str:
        """The type's name, such as sensor_msgs/msg/JointState."""
        return f"{cls.kind.__module__.split('.')[0]}/msg/{cls.kind.__name__}"

    @classmethod
    def want(cls, member: str) -> Want | None:
        """What a member takes; None when there is no such member."""
        return cls.members.get(member, cls.channel)


def numbers(axes: int, words: str) -> Want:
    """Want single numbers along at most so many axes."""
    return Want(words, lambda shape, _dtype: len(shape) <= axes)


def vectors(length: int, words: str, axes: int = 1) -> Want:
    """Want vectors of that length along at most so many axes; with ``axes`` 0, one vector."""
    return Want(words, lambda shape, _dtype: shape[-1:] == (length,) and len(shape) <= axes + 1)


def elements(parts: Mapping[str, Part], lengths: Mapping[str, int] | None = None) -> int:
    """Count the elements, which each part must have as many of; a part's element has ``lengths`` numbers, or one.

    Raises MisfitError naming the parts that differ.
    """
    counts = {name: int(np.prod(part.shape)) // (lengths or {}).get(name, 1) for name, part in parts.items()}
    if len(set(counts.values())) > 1:
        told = " and ".join(f"{name} has {count}" for name, count in counts.items())
        raise MisfitError(f"elements must be as many for each member: {told}")
    return next(iter(counts.values()))


def components(template: Template, count: int, vector: Any) -> Array:
    """View a vector, quaternion or color that stands in the message ``count`` times: [count, its components]."""
    types = vector.get_fields_and_field_types()
    (kind,) = set(types.values())
    return template.rows(count, NUMPY[kind], *((vector, name) for name in types))


def header(frame: str) -> tuple[Declaration, ...]:
    """Declare the options of messages with a header, with the frame that they have by default."""
    return (replace(FRAME, default=frame), STAMP)
