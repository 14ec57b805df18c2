"""PoseArray and WrenchStamped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from geometry_msgs.msg import Pose, WrenchStamped
from geometry_msgs.msg import PoseArray as PoseArrayMessage

from sim_node.node.standard.form import Form, components, elements, header, vectors
from sim_node.node.standard.template import Array, Template
from sim_node.part import Part

POSE = {
    "position": vectors(3, "three numbers a pose (as vec3)"),
    "orientation": vectors(4, "a quaternion a pose (x, y, z, w)"),
}
LENGTHS = {"position": 3, "orientation": 4}


class PoseArray(Form):
    """Poses; without an orientation they are not turned."""

    kind = PoseArrayMessage
    leading = ("position",)
    members = POSE
    options = header("map")

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make as many poses."""
        return PoseArrayMessage(poses=[Pose()] * elements(parts, LENGTHS))

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View positions and orientations: f64[n, 3], f64[n, 4]."""
        poses = template.message.poses
        # One object for all: what is seen of it is seen of each.
        template.message.poses = [poses[0]] * len(poses)
        return {member: components(template, len(poses), getattr(poses[0], member)) for member in members}


class Wrench(Form):
    """A force and a torque."""

    kind = WrenchStamped
    leading = ("force", "torque")
    members: ClassVar = {
        "force": vectors(3, "a vector of three numbers, N", axes=0),
        "torque": vectors(3, "a vector of three numbers, N m", axes=0),
    }
    options = header("base_link")

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make the message."""
        return WrenchStamped()

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View force and torque: f64[1, 3] each."""
        return {member: components(template, 1, getattr(template.message.wrench, member)) for member in members}
