"""The plant's outputs as standard messages, for consumers that do not map the ring."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from sim_node._native import Tick
from sim_node.msg import Topic as TopicMessage
from sim_node.node.assembly import Assembly
from sim_node.node.publication import Publication
from sim_node.node.standard.output import Output
from sim_node.node.topic import Topic

DEPTH = 10


class Outputs:
    """A publisher ``~/NAME`` for each output, alive inside the block."""

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

    def publications(self) -> list[Publication]:
        """What is to be published, in the life of the ring that begins."""
        ticks = self._assembly.settings.rate
        return [
            Publication(topic, partial(self._message, output), output.rate, ticks)
            for topic, output in zip(self._topics, self._outputs)
        ]

    def _message(self, output: Output, tick: Tick) -> bytes:
        now = tick.stamp_ns if output.simulated else self._node.get_clock().now().nanoseconds
        return output.fill(tick, now)
