"""A CAN bus of topics: python-can's interface ``can_msgs``, which the package's entry point makes known to it."""

from __future__ import annotations

import os
import queue
import time
from contextlib import ExitStack
from typing import Any

import can
import rclpy
from builtin_interfaces.msg import Time
from can_msgs.msg import Frame
from rclpy.qos import QoSProfile

from sim_node.node.process import joined, spinning

DEPTH = 1000  # messages that wait: a second of a busy bus
MOST = 8  # bytes of a can_msgs/Frame


class TopicBus(can.BusABC):
    """The bus whose messages are ``can_msgs/Frame`` on topics below ``channel``, as ros2_socketcan names them.

    What is sent is published on ``to_can_bus``, and what ``from_can_bus`` brings is received.
    """

    def __init__(self, channel: str, can_filters: Any = None, **options: Any) -> None:
        base = channel.rstrip("/")
        self.channel_info = f"topics {base}/to_can_bus and {base}/from_can_bus"
        self._waiting: queue.SimpleQueue[can.Message] = queue.SimpleQueue()
        self._stack = ExitStack()
        context = self._stack.enter_context(joined())
        node = rclpy.create_node(f"sim_node_can_{os.getpid()}", context=context)
        self._stack.callback(node.destroy_node)
        self._publisher = node.create_publisher(Frame, f"{base}/to_can_bus", QoSProfile(depth=DEPTH))
        node.create_subscription(
            Frame, f"{base}/from_can_bus", lambda told: self._waiting.put(read(told)), QoSProfile(depth=DEPTH)
        )
        self._stack.enter_context(spinning(node))
        super().__init__(channel=channel, can_filters=can_filters, **options)

    def send(self, msg: can.Message, timeout: float | None = None) -> None:  # noqa: ARG002
        """Publish a message; raises CanOperationError for one of CAN FD, which can_msgs cannot tell."""
        if msg.is_fd or len(msg.data) > MOST:
            raise can.CanOperationError("a can_msgs/Frame is of classic CAN: up to 8 bytes, no CAN FD")
        self._publisher.publish(written(msg))

    def shutdown(self) -> None:
        """Leave the topics."""
        super().shutdown()
        self._stack.close()

    def _recv_internal(self, timeout: float | None) -> tuple[can.Message | None, bool]:
        try:
            return self._waiting.get(timeout=timeout, block=timeout != 0), False
        except queue.Empty:
            return None, False


def written(message: can.Message) -> Frame:
    """Write a message as can_msgs has it, stamped with its time."""
    told = Frame(
        id=message.arbitration_id, is_rtr=message.is_remote_frame, is_extended=message.is_extended_id,
        is_error=message.is_error_frame, dlc=message.dlc,
    )  # fmt: skip
    told.data[: len(message.data)] = list(message.data)
    told.header.stamp = Time(sec=int(message.timestamp), nanosec=int(message.timestamp % 1.0 * 1e9))
    return told


def read(told: Frame) -> can.Message:
    """Read a message; one without a stamp has that of its arrival."""
    stamp = told.header.stamp.sec + told.header.stamp.nanosec * 1e-9
    return can.Message(
        timestamp=stamp or time.time(), arbitration_id=told.id, is_extended_id=told.is_extended,
        is_remote_frame=told.is_rtr, is_error_frame=told.is_error, dlc=told.dlc,
        data=None if told.is_rtr else bytes(told.data)[: told.dlc],
    )  # fmt: skip
