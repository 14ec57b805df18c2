"""A recorder: the topics that replay needs, from running nodes into a bag."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile

from sim_node.node.process import joined, spinning
from sim_node.replay import messages
from sim_node.replay.writer import BagWriter
from sim_node.stop import stop_requested

FLUSH_S = 1.0  # of a killed recorder's messages that may be lost
RECORDER = "sim_node_recorder"
SETTLE_S = 0.3  # of silence, after which nothing more is on its way

# What is recorded of a node: what replay needs and what a page tells of the run, and whether the publisher keeps
# messages for those who come late.
TOPICS = {
    "record": (messages.RECORD, DurabilityPolicy.TRANSIENT_LOCAL),
    "keyframe": (messages.KEYFRAME, DurabilityPolicy.TRANSIENT_LOCAL),
    "unanswered": (messages.UNANSWERED, DurabilityPolicy.TRANSIENT_LOCAL),
    "ring": (messages.RING, DurabilityPolicy.TRANSIENT_LOCAL),
    "tick": (messages.TICK, DurabilityPolicy.VOLATILE),
    "stats": (messages.STATS, DurabilityPolicy.VOLATILE),
}


@dataclass(slots=True)
class Recorded:
    """What was received: messages, and ticks in them."""

    messages: int = 0
    ticks: int = 0


class Recorder(Node):
    """A node that writes what the named nodes publish, as it arrives, without reading it."""

    def __init__(self, writer: BagWriter, nodes: Sequence[str], context: Context) -> None:
        super().__init__(RECORDER, context=context, start_parameter_services=False)
        self.recorded = Recorded()
        self._writer = writer
        self._writing = threading.Lock()
        self._flushed = time.monotonic()
        for node in nodes:
            for name, (kind, durability) in TOPICS.items():
                topic = f"/{node.strip('/')}/{name}"
                self.create_subscription(
                    messages.ROS.type(kind),
                    topic,
                    partial(self._receive, topic, kind),
                    QoSProfile(history=HistoryPolicy.KEEP_ALL, durability=durability),
                    raw=True,
                )
        self.get_logger().info(f"recording {', '.join(nodes)} into {writer.path}")

    def _receive(self, topic: str, kind: str, raw: bytes) -> None:
        if topic not in self._writer.counts:
            self.get_logger().info(f"receiving {topic}")
        with self._writing:
            self._writer.write(topic, kind, time.time_ns(), raw)
        self.recorded.messages += 1
        if kind == messages.RECORD:
            self.recorded.ticks += messages.deserialise(raw, kind).count
        if time.monotonic() - self._flushed > FLUSH_S:
            self.flush()

    def flush(self) -> None:
        """Bring to the bag's file what was received so far; from any thread."""
        with self._writing:
            self._writer.flush()
        self._flushed = time.monotonic()


@contextmanager
def recording(writer: BagWriter, node: str) -> Iterator[Recorder]:
    """Record a node inside the block, by a thread."""
    with joined() as context:
        recorder = Recorder(writer, [node], context)
        with spinning(recorder):
            yield recorder
        recorder.destroy_node()


def record(
    writer: BagWriter,
    nodes: Sequence[str],
    seconds: float | None,
    progress: Callable[[Recorded], None],
    wait: float = 0.0,
) -> Recorded:
    """Record nodes until SIGINT, SIGTERM or so many seconds; then what is still on its way is taken too.

    The seconds count from the first message, or when ``wait`` seconds have brought none. ``progress`` is told some ten
    times a second.
    """
    with joined() as context:
        with stop_requested() as stop:  # before it says that it records: from then on it ends in order
            recorder = Recorder(writer, nodes, context)
            executor = SingleThreadedExecutor(context=context)
            executor.add_node(recorder)
            begin = time.monotonic() + wait
            while not stop.is_set() and (seconds is None or time.monotonic() < begin + seconds):
                executor.spin_once(timeout_sec=0.1)
                if recorder.recorded.messages:
                    begin = min(begin, time.monotonic())
                progress(recorder.recorded)
            _settle(executor, recorder.recorded)
        recorder.destroy_node()
        return recorder.recorded


def _settle(executor: SingleThreadedExecutor, recorded: Recorded) -> None:
    """Take what was sent before the end; a node that goes on sending is cut off after a while."""
    end = time.monotonic() + 3 * SETTLE_S
    quiet = time.monotonic() + SETTLE_S
    while time.monotonic() < min(quiet, end):
        before = recorded.messages
        executor.spin_once(timeout_sec=quiet - time.monotonic())
        if recorded.messages > before:
            quiet = time.monotonic() + SETTLE_S
