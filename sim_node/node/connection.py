"""A reader's connection to a plant, by the best path that there is: its ring, or standard messages."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from sim_node._native import Tick
from sim_node.bridge import Handle, Subscriber
from sim_node.bridge.command import fill
from sim_node.errors import RingError
from sim_node.layout import Field
from sim_node.msg import Ring
from sim_node.node.inputs import MESSAGES
from sim_node.node.process import spinning
from sim_node.node.standard.reading import Reading
from sim_node.node.standard.template import Array

SHARED, TOPICS = "shared memory", "topics"
WARN_PERIOD = 5.0  # seconds between warnings about one topic


class Values:
    """The newest values that came by topics, used like a tick of the ring: ``values[name]`` is an array of its own.

    Each field is as new as the last message of its topic; ``stamp_ns`` is the newest stamp, None where none has one.
    """

    def __init__(self, arrays: Mapping[str, Array], stamp_ns: int | None) -> None:
        self._arrays, self.stamp_ns = arrays, stamp_ns

    def __getitem__(self, name: str) -> Array:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(
                f"no message with '{name}' has come; there are {', '.join(self._arrays) or 'none'}"
            ) from None

    def keys(self) -> list[str]:
        """List what there is."""
        return list(self._arrays)

    def release(self) -> None:
        """Do nothing: no slot is held."""

    def __enter__(self) -> Values:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Connection:
    """A way to a plant's outputs and inputs; use it in one thread, in a ``with`` block or closed after use.

    It has a node of its own, so that it works whether or not the caller's is being spun, and follows the plant through
    resets and restarts, on another host too.
    Attributes: ``path``, 'shared memory' or 'topics'; ``reason``, why that one; ``fields``, the names that come by it.
    """

    def __init__(self, node: Node, name: str, timeout: float) -> None:
        self._logger, self._base = node.get_logger(), node.resolve_topic_name(name)
        self.path, self.reason = "", ""
        self.fields: tuple[str, ...] = ()
        self._news = threading.Condition()  # guards what the executor's thread writes: the next five
        self._announced: Ring | None = None
        self._values: dict[str, Array] = {}
        self._stamp_ns: int | None = None
        self._came = self._taken = 0
        self._chosen: Ring | None = None
        self._reader: Subscriber | None = None
        self._inputs: dict[str, tuple[Field, Publisher]] = {}
        self._way, self._made = ExitStack(), ExitStack()
        address = node.resolve_topic_name(f"{name.rstrip('/')}/ring")
        with ExitStack() as making:
            self._node = Node(
                f"_{node.get_name()}_connection",
                context=node.context,
                namespace=node.get_namespace(),
                use_global_arguments=False,
                start_parameter_services=False,
                enable_rosout=False,
            )
            making.callback(self._node.destroy_node)
            latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
            self._node.create_subscription(Ring, address, self._hear, latched)
            making.enter_context(spinning(self._node))
            making.callback(self._leave)
            self._find(address, timeout)
            self._made = making.pop_all()

    def next(self, timeout: float | None = 1.0) -> Tick | Values:
        """Wait for something newer than what was taken last; use it in a ``with`` block.

        ``timeout`` is in seconds, None waits for ever. Raises RingError when nothing came, or no path is left.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            self._arrive(deadline)
            left = _left(deadline)
            if self._reader is not None:
                return self._reader.next(left)
            with self._news:
                if not self._news.wait_for(self._stirred, left):
                    raise RingError(f"no message of {self._base} came within {timeout:g} s: is it paused or inactive?")
                if self._came > self._taken:
                    return self._take()

    def latest(self) -> Tick | Values | None:
        """Take the newest there is without waiting, also if it was taken before; None if there is none yet."""
        self._follow()
        if self._reader is not None:
            return self._reader.latest()
        with self._news:
            return self._take() if self._came else None

    def send(self, name: str, command: Any) -> None:
        """Send a command to an input: by its mailbox, or by its topic ``~/input/NAME``.

        Raises RingError when the value does not fit the input's shape and type, KeyError when there is no such input.
        """
        self._follow()
        if self._reader is not None:
            self._reader.send(name, command)
            return
        if name not in self._inputs:
            raise KeyError(f"no input '{name}'; there are {', '.join(self._inputs) or 'none'}")
        field, publisher = self._inputs[name]
        values = np.empty(field.numpy_shape, field.element.numpy)
        fill(values, name, command)
        publisher.publish(publisher.msg_type(data=values.ravel().tolist()))

    def close(self) -> None:
        """Leave the plant."""
        self._made.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find(self, address: str, timeout: float) -> None:
        """Wait for an address, and for one that leads somewhere."""
        deadline = time.monotonic() + timeout
        with self._news:
            if not self._news.wait_for(partial(self._moved, None), timeout):
                raise RingError(
                    f"no address of a plant came on {address} within {timeout:g} s: "
                    "is its node configured, and of this ROS domain?"
                )
        self._arrive(deadline)

    def _arrive(self, deadline: float | None) -> None:
        """Follow the plant; while its address leads nowhere, wait for another: between two generations one comes."""
        while True:
            with self._news:
                tried = self._announced
            try:
                self._follow()
                return
            except RingError:
                with self._news:
                    if not self._news.wait_for(partial(self._moved, tried), _left(deadline)):
                        raise

    def _moved(self, known: Ring | None) -> bool:
        return self._announced is not known

    def _stirred(self) -> bool:
        return self._came > self._taken or self._moved(self._chosen)

    def _take(self) -> Values:
        self._taken = self._came
        return Values(dict(self._values), self._stamp_ns)

    def _hear(self, address: Ring) -> None:
        """Note where the plant is now; the executor's thread."""
        with self._news:
            self._announced = address
            self._news.notify_all()

    def _receive(self, reading: Reading, topic: str, raw: bytes) -> None:
        """Take the values of a message; the executor's thread."""
        try:
            values, stamp_ns = reading.read(raw)
        except ValueError as fault:
            self._logger.warning(f"{topic}: {fault}", throttle_duration_sec=WARN_PERIOD)
            return
        with self._news:
            self._values.update(values)
            self._stamp_ns = self._stamp_ns if stamp_ns is None else stamp_ns
            self._came += 1
            self._news.notify_all()

    def _follow(self) -> None:
        """Take the best path to the plant as it was announced last. Raises RingError when there is none."""
        with self._news:
            address = self._announced
        if address is None or address is self._chosen:
            return
        obstacle = self._map(address)
        if obstacle:
            self._leave()
            self._listen(address, obstacle)
        self._chosen = address

    def _choose(self, path: str, fields: Iterable[str], reason: str) -> None:
        """Note and log the path that was taken."""
        self.path, self.fields, self.reason = path, tuple(fields), reason
        self._logger.info(f"{self._base}: {path}: {reason}")

    def _leave(self) -> None:
        self._reader, self._inputs = None, {}
        self._way.close()

    def _map(self, address: Ring) -> str:
        """Map the ring; returns why that is not possible, or ''."""
        try:
            handle = Handle.of(address)
            if self._reader is not None and self._reader.name == handle.name:
                handle.find()  # here as well, so the reader follows the plant by itself
                return ""
            reader = Subscriber(handle, timeout=0.0)
        except RingError as fault:
            return str(fault)
        self._leave()
        self._way.callback(reader.close)
        self._reader = reader
        self._choose(SHARED, (field.name for field in reader.layout), f"ring '{handle.name}' is of this host")
        return ""

    def _listen(self, address: Ring, obstacle: str) -> None:
        """Subscribe to the standard messages, and publish inputs."""
        if not address.topics:
            raise RingError(
                f"the ring of {self._base} cannot be mapped ({obstacle}), and it publishes no standard messages: "
                f"ask its node for some by parameters under 'topics.' (docs/ros.md)"
            )
        with ExitStack() as making:
            try:
                fields, inputs = _fields(address.fields), _fields(address.inputs)
                readings = {topic.name: Reading(topic, fields) for topic in address.topics}
            except ValueError as fault:
                raise RingError(f"the address of {self._base} cannot be used: {fault}") from fault
            with self._news:
                self._values, self._stamp_ns, self._came, self._taken = {}, None, 0, 0
            for field in inputs:
                kind = MESSAGES[field.element.scalar.name]
                publisher = self._node.create_publisher(kind, f"{self._base}/input/{field.name}", 10)
                making.callback(self._node.destroy_publisher, publisher)
                self._inputs[field.name] = field, publisher
            for name, reading in readings.items():
                # The newest message only, and of publishers that are reliable and those that are not.
                quality = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
                receive = partial(self._receive, reading, name)
                made = self._node.create_subscription(reading.form.kind, name, receive, quality, raw=True)
                making.callback(self._node.destroy_subscription, made)
            self._way = making.pop_all()
        texts = [part.text for reading in readings.values() for part in reading.parts.values()]
        self._choose(TOPICS, dict.fromkeys(texts), f"{obstacle}; {', '.join(readings)} instead")


def connect(node: Node, name: str, timeout: float = 5.0) -> Connection:
    """Connect to the plant of that node, such as '/plant', by shared memory or, where that cannot be, by topics.

    ``node`` is the caller's, whose context, namespace and remapping are used; it need not be spun. ``timeout`` is in
    seconds, how long to wait for the plant's address, ``~/ring``. Which path it is and why is logged once.
    Raises RingError when no address came, or it leads nowhere: the ring cannot be mapped and there are no topics.
    """
    return Connection(node, name, timeout)


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def _fields(messages: Iterable[Any]) -> list[Field]:
    """Read fields of an address. Raises ValueError naming one that cannot be."""
    fields = [Field(each.name, each.dtype, tuple(each.shape), each.offset, each.unit) for each in messages]
    for field in fields:
        try:
            np.broadcast_to(np.empty(()), field.numpy_shape)
        except (KeyError, ValueError, OverflowError):
            raise ValueError(f"field '{field.name}' of {field.dtype} has an impossible type or shape") from None
    return fields
