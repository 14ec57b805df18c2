"""The topic ~/stats: histograms and counters of the ticks, since the start and since the service ~/reset_statistics."""

from __future__ import annotations

import array
import time
from collections.abc import Iterator
from contextlib import ExitStack

from rclpy.lifecycle import LifecycleNode

from sim_node.msg import Histogram, Stats
from sim_node.node.assembly import Assembly
from sim_node.node.clock import timer
from sim_node.node.topic import Topic
from sim_node.plant import Distribution
from sim_node.replay.messages import ROS, time_message


class Statistics:
    """The publisher and its timer, alive inside the block; nothing is made while nobody listens."""

    def __init__(self, node: LifecycleNode, assembly: Assembly) -> None:
        self._node, self._assembly = node, assembly
        self._made = ExitStack()
        self._seen = (0, 0, 0)

    def __enter__(self) -> Statistics:
        with ExitStack() as making:
            self._topic = making.enter_context(Topic(self._node, Stats, "~/stats", 10))
            period = self._assembly.settings.diagnostics_period
            making.enter_context(timer(self._node, period, self._publish))
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _publish(self) -> None:
        if self._topic.publisher.get_subscription_count():
            self._topic.publish(self._message)

    def _message(self) -> Stats:
        assembly, stepper = self._assembly, self._assembly.stepper
        start, reset, step = stepper.counters(), stepper.counters("reset"), stepper.step
        return Stats(
            stamp=time_message(step * stepper.dt_ns, ROS),
            generation=assembly.publisher.generation,
            step=step,
            clock=assembly.settings.clock,
            state=assembly.state,
            real_time_factor=self._factor(assembly.publisher.generation, step),
            since_start=list(self._histograms("start")),
            since_reset=list(self._histograms("reset")),
            counters=list(start),
            counted_since_start=list(start.values()),
            counted_since_reset=list(reset.values()),
        )

    def _factor(self, generation: int, step: int) -> float:
        now = time.monotonic_ns()
        (before, then, was), self._seen = self._seen, (step, now, generation)
        return (step - before) * self._assembly.stepper.dt_ns / (now - then) if was == generation else 0.0

    def _histograms(self, since: str) -> Iterator[Histogram]:
        stepper = self._assembly.stepper
        for name, distribution in stepper.statistics(since).items():
            yield _histogram(name, distribution)
        for input_name, told in stepper.command_statistics(since).items():
            for name, distribution in told.items():
                yield _histogram(f"input.{input_name}.{name}", distribution)


def _histogram(name: str, told: Distribution) -> Histogram:
    edges, counts = told.filled
    return Histogram(
        name=name,
        unit="ticks" if name.endswith("delay_ticks") else "ns",
        count=told.count,
        mean=told.mean,
        p50=told.p50,
        p99=told.p99,
        p999=told.p999,
        max=told.max,
        edges=array.array("Q", edges.tolist()),
        counts=array.array("Q", counts.tolist()),
    )
