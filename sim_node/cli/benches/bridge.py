"""How fast a state reaches another process: the ring by spin and by futex, beside a message through rclpy.

Ours counts from the commit to the reader having its view on the slot, in another process. The peer is measured twice:
``serialize`` is numpy → message → bytes → message → numpy in one process, the least that any rclpy transport adds, and
``message`` is the whole way to the numpy array in a subscriber's callback in another process. ``vs_rclpy`` is against
the first, ``vs_rclpy_message`` against the second. All ends are Python, one reader, one run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from sim_node import dtypes
from sim_node.bridge import Publisher
from sim_node.cli.benches.measurement import Measurement, quantiles
from sim_node.layout import Layout

SIZES = {"4kB": 4096, "1MB": 1 << 20, "64MB": 64 << 20}
WAITS = {"spin": 1_000_000, "futex": 0}  # name → µs that the reader spins before it sleeps
PERIOD_S = 1e-3
TOPIC_COUNT = {"4kB": 500, "1MB": 200, "64MB": 8}


def run(ticks: int = 1000, rounds: int = 3) -> Measurement:
    """Measure wake latencies in µs for each size and way of waiting, and the peer's for each size.

    Rounds over all sizes are pooled, so that what else the machine does for a while falls on all of them alike.
    """
    result = Measurement("bridge")
    ages: dict[str, list[int]] = {f"wake_{wait}_{size}": [] for size in SIZES for wait in WAITS}
    for _ in range(rounds):
        for size, nbytes in SIZES.items():
            for wait, spin_us in WAITS.items():
                ages[f"wake_{wait}_{size}"] += _wake(nbytes, spin_us, ticks)
    result.figures.update({name: quantiles(samples) for name, samples in ages.items()})
    result.peers["rclpy"] = _rclpy()
    for size in SIZES:
        for peer, name in (("serialize", "vs_rclpy"), ("message", "vs_rclpy_message")):
            theirs = result.peers["rclpy"].get(f"{peer}_{size}", {}).get("p50_us")
            for wait, suffix in (("spin", ""), ("futex", "_futex")):
                if theirs:
                    ours = result.figures[f"wake_{wait}_{size}"]["p50_us"]
                    result.ratios[f"{name}_{size}{suffix}"] = round(theirs / ours, 1)
    for wait in WAITS:
        small, large = (result.figures[f"wake_{wait}_{size}"]["p50_us"] for size in ("4kB", "64MB"))
        result.ratios[f"wake_{wait}_64MB_to_4kB"] = round(large / small, 2)
    return result


def _wake(nbytes: int, spin_us: int, ticks: int) -> list[int]:
    """Publish ticks at 1 kHz to a process that waits for them; returns their ages there, ns from commit to view."""
    layout = Layout.of([("state", dtypes.float32, (nbytes // 4,), "")])
    name = f"bench.{os.getpid()}"
    publisher = Publisher(layout, Layout.of([]), name=name)
    try:
        with _child("sim_node.cli.benches.bridge_reader", name, str(spin_us), str(ticks)) as reader:
            _until_ready(reader)
            due = time.monotonic()
            for step in range(1, ticks + 1):
                due += PERIOD_S
                time.sleep(max(due - time.monotonic(), 0.0))
                with publisher.next() as slot:
                    slot["state"][:1] = step
                    slot.commit(step=step, stamp_ns=step)
            publisher.close()
            ages: list[int] = json.loads(_last_line(reader))
            return ages
    finally:
        publisher.close()


def _rclpy() -> dict[str, Any]:
    figures: dict[str, Any] = {}
    domain = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    for size, nbytes in SIZES.items():
        arguments = (str(nbytes), str(TOPIC_COUNT[size]), f"bench_{os.getpid()}_{size}")
        with (
            _child("sim_node.cli.benches.rclpy_peer", "subscribe", *arguments, env=domain) as subscriber,
            _child("sim_node.cli.benches.rclpy_peer", "publish", *arguments, env=domain) as publisher,
        ):
            answer: dict[str, Any] = json.loads(_last_line(subscriber) or "{}")
            publisher.kill()
        if "absent" in answer:
            return answer
        figures[f"message_{size}"] = quantiles(answer.get("latency_ns", ()))
        figures[f"serialize_{size}"] = quantiles(answer.get("serialize_ns", ()))
    return figures


def _child(module: str, *arguments: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True, env=env)


def _until_ready(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    if child.stdout.readline().strip() != "ready":
        raise RuntimeError("the reader of the bench ended before it was ready; its error stands above")


def _last_line(child: subprocess.Popen[str]) -> str:
    lines = [line for line in child.communicate()[0].splitlines() if line.strip()]
    return lines[-1] if lines else ""
