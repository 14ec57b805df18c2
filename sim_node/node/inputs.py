"""Inputs by ROS topic, for controllers that do not map the ring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from sim_node.node.standard.joint_command import JointCommand
from sim_node.plant.value import array_of

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
    """Subscriptions ``~/input/NAME`` and ``~/command/NAME`` for each input, ``~/NAME`` for each of ``joints``.

    They are alive inside the block.

    A message holds the input's numbers in C order, vectors flattened. The topics are a writer of the input as any other
    in the ring, named ``topic``, from the first message until nobody publishes them, with the priority of the settings.
    The stamp of a ``Command`` says which tick it answers; for the lockstep clock, what has no stamp answers the newest.
    What a message to joints does not tell keeps what was sent last by topic, at first the input's initial value.
    """

    def __init__(self, node: LifecycleNode, assembly: Assembly, joints: Sequence[JointCommand]) -> None:
        self._node, self._assembly, self._joints = node, assembly, joints
        self._source: Publisher | None = None
        self._sending: set[str] = set()
        self._sent: dict[str, np.ndarray[Any, Any]] = {}
        self._topics = {field.name: list(_topics(field.name)) for field in assembly.stepper.input_layout}
        for command in joints:
            for part in command.parts.values():
                self._topics[part.field.name].append(f"~/{command.topic}")
        self._made, self._writing = ExitStack(), ExitStack()

    def __enter__(self) -> Inputs:
        with ExitStack() as making:
            making.callback(self._writing.close)
            stepper = self._assembly.stepper
            for field in (stepper.input_layout[name] for name in stepper.commanded):
                kind = MESSAGES[field.element.scalar.name]
                for topic, type_, act in zip(_topics(field.name), (kind, Command), (self._apply, self._apply_stamped)):
                    self._subscribe(making, type_, topic, partial(act, field))
            for command in self._joints:
                self._subscribe(making, command.kind, f"~/{command.topic}", partial(self._apply_to_joints, command))
            making.enter_context(timer(self._node, LOOK_PERIOD, self._leave))
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _subscribe(self, making: ExitStack, kind: type[Any], topic: str, act: Callable[[Any], None]) -> None:
        made = self._node.create_subscription(kind, topic, act, 10)
        making.callback(self._node.destroy_subscription, made)

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
        self._try(topic, lambda: self._send(field.name, values, answers))

    def _apply_to_joints(self, command: JointCommand, message: Any) -> None:
        topic = f"~/{command.topic}"
        if strangers := command.arrange(message.name):
            self._warn(topic, f"what it says of {', '.join(strangers)} is passed over: the plant has no such joint")

        def send() -> None:
            self._follow()
            values = {part.field.name: self._last(part.field) for part in command.parts.values()}
            for name in command.read(message, values):
                self._send(name, values[name], None)

        self._try(topic, send)

    def _try(self, topic: str, send: Callable[[], None]) -> None:
        try:
            send()
        except (RingError, ValueError) as refusal:
            self._warn(topic, f"a message is dropped: {refusal}")

    def _warn(self, topic: str, what: str) -> None:
        self._node.get_logger().warning(f"{topic}: {what}", throttle_duration_sec=WARN_PERIOD)

    def _follow(self) -> None:
        """Write to the ring that there is: after a reset it is another."""
        if self._source is not self._assembly.publisher:
            self._writing.close()
            self._source = self._assembly.publisher
            self._writer = self._writing.enter_context(Subscriber(self._source, writer=WRITER))
            self._sending.clear()
            self._sent.clear()

    def _last(self, field: Field) -> np.ndarray[Any, Any]:
        """Copy what was sent last to an input by topic in this ring, at first its initial value."""
        if field.name in self._sent:
            return np.array(self._sent[field.name])
        return array_of(field, self._assembly.plant.declarations.inputs[field.name].initial)

    def _send(self, name: str, values: Any, answers: int | None) -> None:
        self._follow()
        if name not in self._sending:
            self._writer.claim(name, self._assembly.settings.topic_priority)
            self._sending.add(name)
        if answers is None and self._assembly.settings.clock == "lockstep":
            answers = self._assembly.stepper.step
        self._writer.send(name, values, answers)
        self._sent[name] = values

    def _leave(self) -> None:
        """Let those inputs go whose topics nobody publishes any more: they may be exclusive."""
        publishers = self._node.count_publishers
        for name in [name for name in self._sending if not any(map(publishers, self._topics[name]))]:
            self._writer.leave(name)
            self._sending.remove(name)


def _topics(name: str) -> tuple[str, str]:
    return f"~/input/{name}", f"~/command/{name}"
