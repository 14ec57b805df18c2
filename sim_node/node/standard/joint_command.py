"""Commands to joints by their names, as ros2_control's topic-based hardware sends them: JointState as an input."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sensor_msgs.msg import JointState

from sim_node.node.parameters import Declaration
from sim_node.node.standard.form import MisfitError, Want, elements
from sim_node.node.standard.template import Array
from sim_node.part import Part

_JOINTS = Want(
    "one float32 or float64 a joint",
    lambda shape, dtype: len(shape) <= 1 and dtype in (np.float32, np.float64),
)


NAMES = Declaration("names", (), "Names of the joints, in the order of the input's numbers.")


class JointCommand:
    """A topic whose messages set inputs of the plant, one number a joint.

    ``parts`` are, by member of the message, the numbers of an input that it sets: those of ``names``, in their order.
    Raises MisfitError where these are not as many, or a name stands twice.
    """

    kind: ClassVar[type[Any]] = JointState
    members: ClassVar[Mapping[str, Want]] = dict.fromkeys(("position", "velocity", "effort"), _JOINTS)

    def __init__(self, topic: str, parts: Mapping[str, Part], names: Sequence[str]) -> None:
        self.topic, self.parts = topic, parts
        count = elements(parts)
        if len(names) != count or len(set(names)) != count:
            raise MisfitError(f"names has {len(set(names))} different names, and there are {count} joints: name each")
        self._places = {joint: place for place, joint in enumerate(names)}
        self._told: list[str] | None = None
        self._theirs = self._ours = np.empty(0, np.intp)

    @classmethod
    def name(cls) -> str:
        """The type's name."""
        return "sensor_msgs/msg/JointState"

    @classmethod
    def want(cls, member: str) -> Want | None:
        """What a member sets; None when there is no such member."""
        return cls.members.get(member)

    def arrange(self, names: Sequence[str]) -> tuple[str, ...]:
        """Learn the order of a message's joints; returns the ones that are not ours, when the order is a new one."""
        if names == self._told:
            return ()
        self._told = list(names)
        found = [(theirs, self._places[joint]) for theirs, joint in enumerate(names) if joint in self._places]
        self._theirs, self._ours = np.array(found, np.intp).reshape(-1, 2).T
        return tuple(joint for joint in names if joint not in self._places)

    def read(self, message: JointState, values: MutableMapping[str, Array]) -> list[str]:
        """Write a message's numbers over the values of inputs, by their names; returns the inputs that it sets.

        What it does not tell keeps its value: joints that it does not name, NaN, and members that are empty. Its order
        is that of the last ``arrange``. Raises ValueError where it sets nothing, or a member has other than one number
        for each of its names.
        """
        told = {member: np.asarray(getattr(message, member)) for member in self.parts if getattr(message, member)}
        for member, numbers in told.items():
            if len(numbers) != len(message.name):
                raise ValueError(
                    f"it has {len(message.name)} names and {len(numbers)} numbers in {member}, so which joint each is "
                    "of cannot be known: give all joints the same command interfaces"
                )
        if not told or not len(self._ours):
            missing = " or ".join(self.parts) if not told else f"joint of {', '.join(self._places)}"
            raise ValueError(f"it has no {missing}")
        for member, numbers in told.items():
            part = self.parts[member]
            own = np.atleast_1d(part.of(values[part.field.name]))
            theirs = numbers[self._theirs]
            given = ~np.isnan(theirs)
            with np.errstate(over="ignore"):  # what is too large for a float32 is infinite there
                own[self._ours[given]] = theirs[given]
        return list(dict.fromkeys(self.parts[member].field.name for member in told))
