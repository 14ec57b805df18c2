"""Messages as a node would publish them: made by a form, filled from fields, and read back by rclpy."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="installed without ROS")

from rclpy.serialization import deserialize_message

from sim_node import dtypes
from sim_node.layout import Layout
from sim_node.node.standard.output import Output
from sim_node.part import Part

STAMP_NS = 12_000_000_034


class Sent:
    """An output of fields, and the message of the values that they were filled with"""

    def __init__(self, form, fields, members, **options):
        layout = Layout.of((name, dtypes.named(dtype), shape, "") for name, (dtype, shape) in fields.items())
        parts = {member: Part.parse(text, layout) for member, text in members.items()}
        options = {**{each.name: each.default for each in form.options}, "rate": 50.0, **options}
        self.output = Output("sent", form(), parts, options)
        self.layout, self.form = layout, form

    def values(self, seed=0):
        """Numbers of each field, all different."""
        made = {}
        for field in self.layout:
            numbers = np.random.default_rng(seed).permutation(field.count * field.element.length) % 250 + 1
            made[field.name] = numbers.reshape(field.numpy_shape).astype(field.element.numpy)
        return made

    def message(self, values, stamp_ns=STAMP_NS):
        return deserialize_message(self.output.fill(values, stamp_ns), self.form.kind)


@pytest.fixture(scope="session")
def sent():
    return Sent


@pytest.fixture(scope="session")
def stamp():
    from builtin_interfaces.msg import Time

    return STAMP_NS, Time(sec=12, nanosec=34)
