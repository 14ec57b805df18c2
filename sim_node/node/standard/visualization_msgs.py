"""MarkerArray: what RViz and Foxglove draw."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker
from visualization_msgs.msg import MarkerArray as MarkerArrayMessage

from sim_node.node.parameters import Declaration
from sim_node.node.standard.form import Form, MisfitError, components, elements, header, vectors
from sim_node.node.standard.geometry_msgs import LENGTHS, POSE
from sim_node.node.standard.template import Array, Template
from sim_node.part import Part

# Shapes that are one marker an element, and shapes that are one marker whose points are the elements.
SINGLE = {"arrow": Marker.ARROW, "cube": Marker.CUBE, "sphere": Marker.SPHERE, "cylinder": Marker.CYLINDER}
LISTS = {
    "points": Marker.POINTS,
    "cubes": Marker.CUBE_LIST,
    "spheres": Marker.SPHERE_LIST,
    "line": Marker.LINE_STRIP,
    "lines": Marker.LINE_LIST,
    "triangles": Marker.TRIANGLE_LIST,
}
# How many points an element of a list takes.
GROUPS = {"lines": 2, "triangles": 3}
_COLOUR = re.compile(r"#((?:[0-9a-fA-F]{2}){3,4})")


class MarkerArray(Form):
    """Markers: one an element (arrow, cube, …), or one list of points (points, spheres, line, …)."""

    kind = MarkerArrayMessage
    leading = ("position",)
    members: ClassVar = {
        **POSE,
        "scale": vectors(3, "three numbers a marker (as vec3), m"),
        "color": vectors(4, "four numbers a marker (red, green, blue, alpha), 0 to 1"),
    }
    options = (
        *header("map"),
        Declaration("marker", "sphere", "Shape of the markers.", choices=(*SINGLE, *LISTS)),
        Declaration("size", 0.1, "Extent of a marker, or width of a line, where scale is not filled.", "m", low=1e-9),
        Declaration("color", "#ffffff", "Colour as #rrggbb or #rrggbbaa, where color is not filled."),
    )

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make the markers, with numbers as they are where nothing fills them."""
        shape, size = options["marker"], options["size"]
        count = elements(parts, {**LENGTHS, "scale": 3, "color": 4})
        colour = _colour(options["color"])
        marker = Marker(
            type=(SINGLE | LISTS)[shape], scale=Vector3(x=size, y=size, z=size), color=colour, ns=options["name"]
        )
        if shape in SINGLE:
            return MarkerArrayMessage(markers=[_numbered(marker, number) for number in range(count)])
        for member in ("orientation", "scale"):
            if member in parts:
                raise MisfitError(f"{member} cannot be filled for marker '{shape}', whose elements are points only")
        if count % GROUPS.get(shape, 1):
            raise MisfitError(f"marker '{shape}' takes points in groups of {GROUPS[shape]}, and there are {count}")
        marker.points = [Point()] * count
        marker.colors = [ColorRGBA()] * count if "color" in parts else []
        return MarkerArrayMessage(markers=[marker])

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View the members: f64[n, 3 or 4], and f32[n, 4] of the color."""
        markers = template.message.markers
        first = markers[0]
        if first.type in LISTS.values():
            first.points = first.points[:1] * len(first.points)
            first.colors = first.colors[:1] * len(first.colors)
            count, places = len(first.points), {"position": first.points, "color": first.colors}
            owners = {member: places[member][0] for member in members}
        else:
            template.message.markers = [first] * len(markers)
            count = len(markers)
            owners = {"position": first.pose.position, "orientation": first.pose.orientation}
            owners |= {"scale": first.scale, "color": first.color}
        return {member: components(template, count, owners[member]) for member in members}

    def stamped(self, message: Any) -> Sequence[Any]:
        """List the markers."""
        return list(message.markers)

    def stamps(self, template: Template) -> Sequence[Array]:
        """View the stamps of the first marker and of the others, which lie at equal distances among themselves."""
        first, *others = template.message.markers
        if not others:
            return (template.stamps(1, first),)
        other = copy(first)
        other.header = Header(frame_id=first.header.frame_id)
        template.message.markers = [first] + [other] * len(others)
        return (template.stamps(1, first), template.stamps(len(others), other))


def _numbered(marker: Marker, number: int) -> Marker:
    """Copy a marker, all but its id shared with it."""
    made = copy(marker)
    made.id = number
    return made


def _colour(text: str) -> ColorRGBA:
    found = _COLOUR.fullmatch(text)
    if found is None:
        raise MisfitError(f"color '{text}' is not of the form #rrggbb or #rrggbbaa")
    red, green, blue, alpha = (value / 255 for value in bytes.fromhex(f"{found[1]}ff")[:4])
    return ColorRGBA(r=red, g=green, b=blue, a=alpha)
