"""JointState, PointCloud2, Image and Imu."""

from __future__ import annotations

import array
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sensor_msgs.msg import Image as ImageMessage
from sensor_msgs.msg import Imu as ImuMessage
from sensor_msgs.msg import JointState as JointStateMessage
from sensor_msgs.msg import PointCloud2, PointField

from sim_node.node.parameters import Declaration
from sim_node.node.standard.form import Form, MisfitError, Want, components, elements, header, numbers, vectors
from sim_node.node.standard.template import Array, Template
from sim_node.part import Part


class JointState(Form):
    """Positions, velocities and efforts of joints, by name."""

    kind = JointStateMessage
    leading = ("position", "velocity", "effort")
    members = dict.fromkeys(leading, numbers(1, "one number a joint"))
    options = (*header(""), Declaration("names", (), "Names of the joints, as in the robot's description."))

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make the message with the names and as many zeros."""
        names, count = options["names"], elements(parts)
        if len(names) != count:
            raise MisfitError(f"names has {len(names)} names, and there are {count} joints: name each")
        return JointStateMessage(name=list(names), **{member: array.array("d", bytes(8 * count)) for member in parts})

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View each member: f64[1, n]."""
        return {member: template.rows(1, np.float64, (template.message, member)) for member in members}


# Types of a point's channels: numpy's → sensor_msgs/msg/PointField's
CHANNELS = {
    "int8": PointField.INT8,
    "uint8": PointField.UINT8,
    "int16": PointField.INT16,
    "uint16": PointField.UINT16,
    "int32": PointField.INT32,
    "uint32": PointField.UINT32,
    "float32": PointField.FLOAT32,
    "float64": PointField.FLOAT64,
}
_TYPES = {number: np.dtype(name) for name, number in CHANNELS.items()}
AXES = "xyzw"
MOST = len(AXES)  # numbers in a channel


class Cloud(Form):
    """Points with channels: position is x, y, z; another member is a channel of its name, a vector one each axis."""

    kind = PointCloud2
    leading = ("position",)
    members: ClassVar = {"position": vectors(3, "three numbers a point (as vec3)", axes=2)}
    channel = Want(
        f"one to {MOST} numbers a point, of {', '.join(CHANNELS)}", lambda _shape, dtype: dtype.name in CHANNELS
    )
    options = header("map")

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make the message with each point's channels one after the other, aligned as in C."""
        points = parts["position"].shape[:-1]
        height, width = points if len(points) == 2 else (1, *(points or (1,)))
        channels: dict[str, np.dtype[Any]] = {}
        for member, part in parts.items():
            rest = part.shape[len(points) :]
            if part.shape[: len(points)] != points or len(rest) > 1 or rest > (MOST,):
                raise MisfitError(
                    f"{member} has shape {list(part.shape)}, and position is of points of shape {list(points)}: "
                    f"a channel has one to {MOST} numbers for each"
                )
            # What shows and filters clouds takes positions in no other type.
            dtype = np.dtype(np.float32) if member == "position" else part.dtype
            names = _names(member, rest[0] if rest else 0)
            if taken := channels.keys() & names:
                raise MisfitError(f"{member} would be a second channel '{min(taken)}': give it another name")
            channels.update(dict.fromkeys(names, dtype))
        point = np.dtype(list(channels.items()), align=True)
        places = [
            PointField(name=name, offset=point.fields[name][1], datatype=CHANNELS[dtype.name], count=1)  # type: ignore[index]
            for name, dtype in channels.items()
        ]
        return PointCloud2(
            height=height,
            width=width,
            fields=places,
            point_step=point.itemsize,
            row_step=point.itemsize * width,
            data=array.array("B", bytes(point.itemsize * width * height)),
        )

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View each channel in the points: its type [points, numbers], or [points]."""
        message = template.message
        step, places = message.point_step, {place.name: place for place in message.fields}
        points = template.rows(1, np.uint8, (message, "data")).reshape(-1, step)
        views = {}
        for member in members:
            first, count = places.get(member), 0
            if first is None:
                count = next(n for n in range(MOST, 0, -1) if _names(member, n)[-1] in places)
                first = places[_names(member, count)[0]]
            dtype = _TYPES[first.datatype]
            block = points[:, first.offset : first.offset + max(count, 1) * dtype.itemsize].view(dtype)
            views[member] = block if count else block[:, 0]
        return views


def _names(member: str, count: int) -> list[str]:
    if count == 0:
        return [member]
    return [axis if member == "position" else f"{member}_{axis}" for axis in AXES[:count]]


# How an image's encoding is called: type and channels → names, the first of which is the default
_OF_COLOUR = {
    ("uint8", 1): ("mono8", "bayer_rggb8", "bayer_bggr8", "bayer_gbrg8", "bayer_grbg8"),
    ("uint8", 3): ("rgb8", "bgr8"),
    ("uint8", 4): ("rgba8", "bgra8"),
    ("uint16", 1): ("mono16", "bayer_rggb16", "bayer_bggr16", "bayer_gbrg16", "bayer_grbg16"),
    ("uint16", 3): ("rgb16", "bgr16"),
    ("uint16", 4): ("rgba16", "bgra16"),
}
_OF_NUMBERS = {
    "uint8": "8U", "int8": "8S", "uint16": "16U", "int16": "16S", "int32": "32S", "float32": "32F", "float64": "64F",
}  # fmt: skip
ENCODINGS: dict[tuple[str, int], tuple[str, ...]] = {
    (dtype, channels): (*_OF_COLOUR.get((dtype, channels), ()), f"{code}C{channels}")
    for dtype, code in _OF_NUMBERS.items()
    for channels in range(1, MOST + 1)
}
_DTYPES = {name: np.dtype(dtype) for (dtype, _), names in ENCODINGS.items() for name in names}


class Image(Form):
    """An image of one to four channels, in the field's own type."""

    kind = ImageMessage
    leading = ("data",)
    members: ClassVar = {
        "data": Want(
            f"numbers of {', '.join(_OF_NUMBERS)} in rows and columns, one to {MOST} a pixel",
            lambda shape, dtype: (
                dtype.name in _OF_NUMBERS and (len(shape) == 2 or shape[2:] in ((1,), (2,), (3,), (4,)))
            ),
        )
    }
    options = (
        *header("base_link"),
        Declaration("encoding", "", "How pixels are meant, such as bgr8 or 32FC1; empty: as the field's type has it."),
    )

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make a black image."""
        part = parts["data"]
        height, width, channels = part.shape if len(part.shape) == 3 else (*part.shape, 1)
        known = ENCODINGS[part.dtype.name, channels]
        encoding = options["encoding"] or known[0]
        if encoding not in known:
            raise MisfitError(f"encoding '{encoding}' is not of {part}; one of {', '.join(known)} is")
        step = width * channels * part.dtype.itemsize
        return ImageMessage(
            height=height, width=width, encoding=encoding, step=step, data=array.array("B", bytes(step * height))
        )

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View the pixels: the encoding's type [1, numbers]."""
        pixels = template.rows(1, np.uint8, (template.message, "data")).view(_DTYPES[template.message.encoding])
        return dict.fromkeys(members, pixels)


class Imu(Form):
    """What an inertial measurement unit measures, without a covariance, which no plant knows."""

    kind = ImuMessage
    leading = ("orientation", "angular_velocity", "linear_acceleration")
    members: ClassVar = {
        "orientation": vectors(4, "a quaternion (x, y, z, w)", axes=0),
        "angular_velocity": vectors(3, "a vector of three numbers, rad/s", axes=0),
        "linear_acceleration": vectors(3, "a vector of three numbers, m/s²", axes=0),
    }
    options = header("base_link")

    def prototype(self, parts: Mapping[str, Part], options: Mapping[str, Any]) -> Any:
        """Make the message, saying of what is not measured that it is not: its covariance begins with -1."""
        message = ImuMessage()
        for member in self.members:
            getattr(message, f"{member}_covariance")[0] = 0.0 if member in parts else -1.0
        return message

    def views(self, template: Template, members: Sequence[str]) -> dict[str, Array]:
        """View each member: f64[1, 3 or 4]."""
        return {member: components(template, 1, getattr(template.message, member)) for member in members}
