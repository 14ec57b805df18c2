"""The peers of the bridge bench, each in processes of its own."""

from __future__ import annotations

import json
import os
import time
from itertools import count
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from sim_node.cli.benches.measurement import quantiles
from sim_node.cli.benches.pace import paced
from sim_node.cli.benches.processes import answer, module, started, until_ready
from sim_node.cli.benches.shared_memory_peer import HEAD, views

MESSAGES = {"4kB": (4 << 10, 400), "1MB": (1 << 20, 150), "64MB": (64 << 20, 8)}  # bytes, and how many
_numbers = count()


class AbsentError(Exception):
    """A peer that cannot run, and why."""


def rclpy() -> dict[str, Any]:
    """Measure messages between two processes, and serializing alone; or tell why rclpy is absent."""
    figures: dict[str, Any] = {}
    domain = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    for size, (nbytes, messages) in MESSAGES.items():
        words = (nbytes, messages, f"bench_{os.getpid()}_{size}")
        with (
            started(module("rclpy_peer", "subscribe", *words), domain) as subscriber,
            started(module("rclpy_peer", "publish", *words), domain),
        ):
            said = answer(subscriber)
        if "absent" in said:
            return said
        figures[f"message_{size}"] = quantiles(said.get("latency_ns", ()))
        figures[f"serialize_{size}"] = quantiles(said.get("serialize_ns", ()))
    return figures


def iceoryx2(nbytes: int, event: bool, samples: int) -> list[int]:
    """Publish at 1 kHz to a reader that polls, or sleeps until an event; returns ages there, ns from stamp to array.

    Raises AbsentError where it cannot run.
    """
    words = (f"bench/{os.getpid()}/{next(_numbers)}", nbytes, "event" if event else "poll", samples)
    with started(module("iceoryx2_peer", "publish", *words)) as publisher:
        _until_present(publisher)
        with started(module("iceoryx2_peer", "subscribe", *words)) as subscriber:
            _until_present(subscriber)
            assert publisher.stdin is not None
            publisher.stdin.write("go\n")
            publisher.stdin.flush()
            ages: list[int] = answer(subscriber)["call"]
        publisher.communicate()
        return ages


def shared_memory(nbytes: int, ticks: int) -> list[int]:
    """Fill buffers at 1 kHz for a reader that polls; returns ages there, ns from stamp to array."""
    memory = SharedMemory(create=True, size=HEAD + 2 * nbytes)
    try:
        done, buffers = views(memory, nbytes)
        with started(module("shared_memory_peer", memory.name, nbytes, ticks)) as reader:
            until_ready(reader)
            for step in paced(ticks):
                buffers[step & 1][:2].view(np.int64)[0] = time.monotonic_ns()
                done[0] = step
            ages: list[int] = answer(reader)["call"]
        return ages
    finally:
        del done, buffers
        memory.close()
        memory.unlink()


def _until_present(child: Any) -> None:
    """Wait until a process of a peer is ready; AbsentError with what it said instead."""
    line = child.stdout.readline().strip()
    if not line:
        raise AbsentError("it ended before it was ready; its error stands above")
    if line != "ready":
        raise AbsentError(json.loads(line)["absent"])
