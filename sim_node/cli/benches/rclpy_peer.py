"""The peer of the bridge bench: the same state as a std_msgs/Float32MultiArray through rclpy, two processes.

Both ends do what a careful user does: the message's data is an array.array, which rclpy copies as a block, and the
reader views the bytes it gets. The first 8 bytes carry the time at which the publisher began.
"""

from __future__ import annotations

import array
import json
import sys
import time
from typing import Any

import numpy as np

from sim_node.cli.benches.absence import absence

PERIOD_S = {4096: 2e-3, 1 << 20: 1e-2}
WARM_UP = 2


def main(role: str, nbytes: int, count: int, topic: str) -> None:
    """Publish for ever, or receive ``count`` messages and print their latencies and serialization times (ns)."""
    try:
        import rclpy
        from rclpy.qos import QoSProfile
        from std_msgs.msg import Float32MultiArray
    except ImportError as absent:
        print(json.dumps(absence(absent)))
        return
    rclpy.init()
    node = rclpy.create_node(f"{topic}_{role}")
    quality = QoSProfile(depth=2)
    if role == "publish":
        publisher = node.create_publisher(Float32MultiArray, topic, quality)
        state = np.zeros(nbytes // 4, np.float32)
        while publisher.get_subscription_count() == 0:
            rclpy.spin_once(node, timeout_sec=0.05)
        while True:
            time.sleep(PERIOD_S.get(nbytes, 1.0))
            state.view(np.int64)[0] = time.monotonic_ns()
            publisher.publish(_message(Float32MultiArray, state))
    latencies: list[int] = []

    def receive(message: Any) -> None:
        values = np.frombuffer(message.data, np.float32)
        latencies.append(time.monotonic_ns() - int(values[:2].view(np.int64)[0]))

    node.create_subscription(Float32MultiArray, topic, receive, quality)
    deadline = time.monotonic() + 60.0
    while len(latencies) < count + WARM_UP and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.5)
    serialize = _serialize(Float32MultiArray, nbytes)
    print(json.dumps({"latency_ns": latencies[WARM_UP:], "serialize_ns": serialize}))


def _message(kind: Any, state: np.ndarray[Any, Any]) -> Any:
    message = kind()
    data = array.array("f")
    data.frombytes(state.tobytes())
    message.data = data
    return message


def _serialize(kind: Any, nbytes: int) -> list[int]:
    """Time numpy → message → bytes → message → numpy in one process: what any transport adds to."""
    from rclpy.serialization import deserialize_message, serialize_message

    state, times = np.zeros(nbytes // 4, np.float32), []
    for _ in range(200 if nbytes <= 1 << 20 else 10):
        begin = time.monotonic_ns()
        received = deserialize_message(serialize_message(_message(kind, state)), kind)
        np.frombuffer(received.data, np.float32)
        times.append(time.monotonic_ns() - begin)
    return times


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
