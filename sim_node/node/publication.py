"""What goes out of a running plant, topic by topic, and the thread that publishes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from typing import Any

from rclpy.lifecycle import LifecycleNode

from sim_node._native import Tick
from sim_node.bridge import Publisher, Subscriber
from sim_node.errors import RingError
from sim_node.node.report import report
from sim_node.node.schedule import Schedule
from sim_node.node.topic import Topic

NS = 1_000_000_000
LOOK_S = 0.05  # how often the thread looks whether somebody listens, or whether to end
REST_S = 0.02  # without a tick for so long, or for two periods: the plant rests


class Publication:
    """One topic's messages in one life of the ring.

    A tick goes out once, when it is due (``Schedule``) and somebody listens. So does the tick that the plant begins or
    rests on, due or not, also to one who comes later. In real time there are no more than ``rate`` messages a second,
    whatever the clock does, but for one that may come up to a message's time early.
    """

    def __init__(self, topic: Topic[Any], make: Callable[[Tick], Any], rate: float, ticks: float) -> None:
        self.topic, self._make = topic, make
        self._schedule, self._interval_ns = Schedule(rate, ticks), round(NS / rate)
        self._step, self._heard = -1, 0
        self._free_ns = 0  # CLOCK_MONOTONIC from which the next message may go out
        self.due = 0  # the next tick that is

    def wanted(self) -> bool:
        """Ask whether somebody listens; one who begins to is sent what the others have had."""
        heard, self._heard = self._heard, self.topic.publisher.get_subscription_count()
        if self._heard > heard:
            self._step = -1
        return bool(self._heard)

    def wait_s(self, step: int, period_s: float) -> float:
        """Tell how long there is nothing to do after this tick."""
        return max((self.due - step - 1) * period_s, (self._free_ns - time.monotonic_ns()) / NS)

    def offer(self, tick: Tick, resting: bool) -> None:
        """Publish a tick if it is to go out."""
        now = time.monotonic_ns()
        if (resting and tick.step != self._step) or (tick.step >= self.due and now >= self._free_ns):
            self._step, self.due = tick.step, self._schedule.after(tick.step)
            self._free_ns = max(now, self._free_ns + self._interval_ns)
            self.topic.publish(partial(self._make, tick), step=tick.step)


@contextmanager
def publishing(
    node: LifecycleNode, source: Publisher, period_ns: int, publications: Sequence[Publication]
) -> Iterator[None]:
    """Publish inside the block, from a thread that sleeps until a tick is due; the executor has no part in it."""
    leaving = Event()
    with Subscriber(source, on="host") as reader:
        arguments = (node, reader, period_ns / NS, publications, leaving)
        thread = Thread(target=_publish, args=arguments, name="sim_node topics")
        thread.start()
        try:
            yield
        finally:
            leaving.set()
            thread.join()


def _publish(
    node: LifecycleNode, reader: Subscriber, period_s: float, publications: Sequence[Publication], leaving: Event
) -> None:
    resting, rest_s = True, max(REST_S, 2 * period_s)
    tick = reader.latest()
    while not leaving.is_set():
        wanted = [each for each in publications if each.wanted()]
        step = -1
        if tick is not None:
            with tick:
                step = tick.step
                for each in wanted:
                    try:
                        each.offer(tick, resting)
                    except Exception as fault:
                        node.get_logger().error(report(f"could not publish {each.topic.publisher.topic_name}", fault))
        pause_s = min((each.wait_s(step, period_s) for each in wanted), default=LOOK_S)
        if pause_s > 0 and leaving.wait(min(pause_s, LOOK_S)):
            return
        try:
            due = any(each.due <= step for each in wanted)
            tick, resting = reader.latest() if due else reader.next(rest_s), False
        except RingError:  # paused, inactive, or waiting for an answer
            tick, resting = reader.latest(), True
