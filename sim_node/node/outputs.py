"""The plant's outputs as standard messages, for consumers that do not map the ring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from sim_node.bridge import Subscriber
from sim_node.msg import Topic as TopicMessage
from sim_node.node.assembly import Assembly
from sim_node.node.clock import timer
from sim_node.node.standard.output import Output
from sim_node.node.topic import Topic

DEPTH = 10


class Outputs:
    """A publisher ``~/NAME`` for each output, alive inside the block; each at its own rate, all from one reader."""

    def __init__(self, node: LifecycleNode, assembly: Assembly, outputs: Sequence[Output]) -> None:
        self._node, self._assembly, self._outputs = node, assembly, outputs
        self._topics: list[Topic[Any]] = []
        self._made = ExitStack()

    def __enter__(self) -> Outputs:
        overridable = QoSOverridingOptions.with_default_policies()
        with ExitStack() as making:
            for output in self._outputs:
                made = Topic(
                    self._node,
                    output.form.kind,
                    f"~/{output.name}",
                    QoSProfile(depth=DEPTH),
                    qos_overriding_options=overridable,
                )
                self._topics.append(making.enter_context(made))
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def announced(self) -> list[TopicMessage]:
        """Tell remote readers where to find what, for the address of the ring."""
        return [
            TopicMessage(
                name=topic.publisher.topic_name,
                type=output.form.name(),
                members=list(output.parts),
                fields=[part.text for part in output.parts.values()],
                rate=output.rate,
            )
            for topic, output in zip(self._topics, self._outputs)
        ]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Publish inside the block."""
        with ExitStack() as making:
            if self._outputs:
                reader = making.enter_context(Subscriber(self._assembly.publisher, on="host"))
                for topic, output in zip(self._topics, self._outputs):
                    publish = Publication(self._node, reader, topic, output).publish
                    making.enter_context(timer(self._node, 1.0 / output.rate, publish))
            yield


class Publication:
    """One output of one generation: publishes the newest tick, once."""

    def __init__(self, node: LifecycleNode, reader: Subscriber, topic: Topic[Any], output: Output) -> None:
        self._node, self._reader, self._topic, self._output = node, reader, topic, output
        self._last = -1

    def publish(self) -> None:
        """Publish the newest tick, where it is new and somebody listens."""
        if not self._topic.publisher.get_subscription_count():
            return
        tick = self._reader.latest()
        if tick is None:
            return
        with tick:
            if tick.step != self._last:  # nothing is new while paused
                self._last = tick.step
                now = tick.stamp_ns if self._output.simulated else self._node.get_clock().now().nanoseconds
                self._topic.publish(partial(self._output.fill, tick, now), step=tick.step)
