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

from sim_node.layout import Field
from sim_node.node.assembly import Assembly

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
WARN_PERIOD = 1.0  # seconds between warnings about one input


class Inputs:
    """A subscription ``~/input/NAME`` for each input of the plant, alive inside the block.

    A message holds the input's numbers in C order, vectors flattened. What comes through the ring's mailbox for the
    same tick wins.
    """

    def __init__(self, node: LifecycleNode, assembly: Assembly) -> None:
        self._node, self._assembly = node, assembly
        self._made = ExitStack()

    def __enter__(self) -> Inputs:
        with ExitStack() as making:
            for field in self._assembly.stepper.input_layout:
                kind = MESSAGES[field.element.scalar.name]
                made = self._node.create_subscription(kind, f"~/input/{field.name}", partial(self._apply, field), 10)
                making.callback(self._node.destroy_subscription, made)
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _apply(self, field: Field, message: Any) -> None:
        wanted = field.count * field.element.length
        if len(message.data) != wanted:
            self._node.get_logger().warning(
                f"~/input/{field.name}: a message of {len(message.data)} numbers is dropped; the input takes {wanted} "
                f"({field.dtype} of shape {list(field.shape)})",
                throttle_duration_sec=WARN_PERIOD,
            )
            return
        values = np.asarray(message.data, field.element.numpy).reshape(field.numpy_shape)
        self._assembly.stepper.set(field.name, values)
