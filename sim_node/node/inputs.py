"""Inputs by ROS topic, for controllers that do not map the ring."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from rclpy.lifecycle import LifecycleNode
from std_msgs.msg import (
    Float32MultiArray,
    Float64MultiArray,
    Int32MultiArray,
    Int64MultiArray,
    UInt8MultiArray,
    UInt32MultiArray,
    UInt64MultiArray,
)

from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import RingError
from sim_node.layout import Field
from sim_node.node.assembly import Assembly
from sim_node.node.clock import STEADY

# Scalar type of an input → message of its subscription.
MESSAGES = {
    "f32": Float32MultiArray,
    "f64": Float64MultiArray,
    "i32": Int32MultiArray,
    "i64": Int64MultiArray,
    "u32": UInt32MultiArray,
    "u64": UInt64MultiArray,
    "bool": UInt8MultiArray,
}
WRITER = "topic"
WARN_PERIOD = 1.0  # seconds between warnings
LOOK_PERIOD = 1.0  # seconds between looks for topics that nobody publishes any more


class Inputs:
    """A subscription ``~/input/NAME`` for each input of the plant, alive inside the block.

    A message holds the input's numbers in C order, vectors flattened. The topic is a writer of the input as any other
    in the ring, named ``topic``, from its first message until nobody publishes it, with the priority of the settings.
    """

    def __init__(self, node: LifecycleNode, assembly: Assembly) -> None:
        self._node, self._assembly = node, assembly
        self._source: Publisher | None = None
        self._sending: set[str] = set()
        self._made, self._writing = ExitStack(), ExitStack()

    def __enter__(self) -> Inputs:
        with ExitStack() as making:
            making.callback(self._writing.close)
            for field in self._assembly.stepper.input_layout:
                kind = MESSAGES[field.element.scalar.name]
                made = self._node.create_subscription(kind, _topic(field.name), partial(self._apply, field), 10)
                making.callback(self._node.destroy_subscription, made)
            timer = self._node.create_timer(LOOK_PERIOD, self._leave, clock=STEADY)
            making.callback(self._node.destroy_timer, timer)
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _apply(self, field: Field, message: Any) -> None:
        wanted = field.count * field.element.length
        if len(message.data) != wanted:
            self._warn(
                field,
                f"a message of {len(message.data)} numbers is dropped; the input takes {wanted} "
                f"({field.dtype} of shape {list(field.shape)})",
            )
            return
        values = np.asarray(message.data, field.element.numpy).reshape(field.numpy_shape)
        try:
            self._send(field.name, values)
        except RingError as refusal:
            self._warn(field, f"a message is dropped: {refusal}")

    def _warn(self, field: Field, what: str) -> None:
        self._node.get_logger().warning(f"{_topic(field.name)}: {what}", throttle_duration_sec=WARN_PERIOD)

    def _send(self, name: str, values: Any) -> None:
        if self._source is not self._assembly.publisher:  # after a reset the ring is another
            self._writing.close()
            self._source = self._assembly.publisher
            self._writer = self._writing.enter_context(Subscriber(self._source, writer=WRITER))
            self._sending.clear()
        if name not in self._sending:
            self._writer.claim(name, self._assembly.settings.topic_priority)
            self._sending.add(name)
        self._writer.send(name, values)

    def _leave(self) -> None:
        """Let those inputs go whose topics nobody publishes any more: they may be exclusive."""
        for name in [name for name in self._sending if not self._node.count_publishers(_topic(name))]:
            self._writer.leave(name)
            self._sending.remove(name)


def _topic(name: str) -> str:
    return f"~/input/{name}"
