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
from sim_node.msg import Command
from sim_node.node.assembly import Assembly
from sim_node.node.clock import timer
from sim_node.node.settings import NS

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
    """Subscriptions ``~/input/NAME`` and ``~/command/NAME`` for each input of the plant, alive inside the block.

    A message holds the input's numbers in C order, vectors flattened. The topics are a writer of the input as any other
    in the ring, named ``topic``, from the first message until nobody publishes them, with the priority of the settings.
    The stamp of a ``Command`` says which tick it answers; for the lockstep clock, what has no stamp answers the newest.
    """

    def __init__(self, node: LifecycleNode, assembly: Assembly) -> None:
        self._node, self._assembly = node, assembly
        self._source: Publisher | None = None
        self._sending: set[str] = set()
        self._made, self._writing = ExitStack(), ExitStack()

    def __enter__(self) -> Inputs:
        with ExitStack() as making:
            making.callback(self._writing.close)
            stepper = self._assembly.stepper
            for field in (stepper.input_layout[name] for name in stepper.commanded):
                kind = MESSAGES[field.element.scalar.name]
                for topic, type_, act in zip(_topics(field.name), (kind, Command), (self._apply, self._apply_stamped)):
                    made = self._node.create_subscription(type_, topic, partial(act, field), 10)
                    making.callback(self._node.destroy_subscription, made)
            making.enter_context(timer(self._node, LOOK_PERIOD, self._leave))
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _apply_stamped(self, field: Field, message: Command) -> None:
        stamp = message.header.stamp
        step, rest = divmod(stamp.sec * NS + stamp.nanosec, self._assembly.settings.dt_ns)
        if rest or not 0 <= step <= self._assembly.stepper.step:
            told = f"a message is dropped: {stamp.sec}.{stamp.nanosec:09} s is the stamp of no tick so far"
            self._warn(_topics(field.name)[1], told)
        else:
            self._apply(field, message, step)

    def _apply(self, field: Field, message: Any, answers: int | None = None) -> None:
        topic, wanted = _topics(field.name)[answers is not None], field.count * field.element.length
        if len(message.data) != wanted:
            self._warn(
                topic,
                f"a message of {len(message.data)} numbers is dropped; the input takes {wanted} "
                f"({field.dtype} of shape {list(field.shape)})",
            )
            return
        values = np.asarray(message.data, field.element.numpy).reshape(field.numpy_shape)
        try:
            self._send(field.name, values, answers)
        except RingError as refusal:
            self._warn(topic, f"a message is dropped: {refusal}")

    def _warn(self, topic: str, what: str) -> None:
        self._node.get_logger().warning(f"{topic}: {what}", throttle_duration_sec=WARN_PERIOD)

    def _send(self, name: str, values: Any, answers: int | None) -> None:
        if self._source is not self._assembly.publisher:  # after a reset the ring is another
            self._writing.close()
            self._source = self._assembly.publisher
            self._writer = self._writing.enter_context(Subscriber(self._source, writer=WRITER))
            self._sending.clear()
        if name not in self._sending:
            self._writer.claim(name, self._assembly.settings.topic_priority)
            self._sending.add(name)
        if answers is None and self._assembly.settings.clock == "lockstep":
            answers = self._assembly.stepper.step
        self._writer.send(name, values, answers)

    def _leave(self) -> None:
        """Let those inputs go whose topics nobody publishes any more: they may be exclusive."""
        for name in [name for name in self._sending if not any(map(self._node.count_publishers, _topics(name)))]:
            self._writer.leave(name)
            self._sending.remove(name)


def _topics(name: str) -> tuple[str, str]:
    return f"~/input/{name}", f"~/command/{name}"
