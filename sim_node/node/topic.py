"""One topic that the node publishes, and what it leaves of each message in a trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Generic, TypeVar

from rclpy.lifecycle import LifecycleNode
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

from sim_node.plant.trace_file import trace_file

Message = TypeVar("Message")

# Several threads publish, and spans of one track may not overlap.
_TRACING = Lock()


class Topic(Generic[Message]):
    """A publisher of the node, destroyed on leaving the block.

    Where SIM_NODE_TRACE names a file, each message leaves a span that is named as the topic, from before the message is
    made until the middleware has it, and in it one of what the middleware took.
    """

    def __init__(
        self, node: LifecycleNode, kind: type[Message], name: str, quality: QoSProfile | int, **options: Any
    ) -> None:
        self._node = node
        self.publisher: Publisher = node.create_publisher(kind, name, quality, **options)
        file = trace_file()
        self._spans = None if file is None else file.spans(f"{node.get_fully_qualified_name()} topics")

    def __enter__(self) -> Topic[Message]:
        return self

    def __exit__(self, *_: object) -> None:
        self._node.destroy_publisher(self.publisher)
        if self._spans is not None:
            self._spans.end()

    def publish(self, make: Callable[[], Message | bytes], **facts: Any) -> None:
        """Make a message, or its bytes, and publish it; ``facts`` are told in the trace."""
        if self._spans is None:
            self.publisher.publish(make())
            return
        with _TRACING:
            began = time.monotonic_ns()
            message = make()
            made = time.monotonic_ns()
            self.publisher.publish(message)
            ended = time.monotonic_ns()
        self._spans.leave(self.publisher.topic_name, began, ended, facts)
        self._spans.leave("publish", made, ended)
