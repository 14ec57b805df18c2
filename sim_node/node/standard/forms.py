"""The standard messages that there are, by the names of their types."""

from __future__ import annotations

from sim_node.node.standard.form import Form
from sim_node.node.standard.geometry_msgs import PoseArray, Wrench
from sim_node.node.standard.sensor_msgs import Cloud, Image, Imu, JointState
from sim_node.node.standard.std_msgs import MultiArray
from sim_node.node.standard.visualization_msgs import MarkerArray
from sim_node.part import Part

FORMS: dict[str, type[Form]] = {
    form.name(): form for form in (JointState, Cloud, Image, Imu, PoseArray, Wrench, MultiArray, MarkerArray)
}


def fitting(part: Part) -> list[str]:
    """List what takes this part: ``type (member)`` of each message."""
    return [
        f"{name} ({member})"
        for name, form in FORMS.items()
        for member, want in form.members.items()
        if want.takes(part.shape, part.dtype)
    ]
