"""The ROS executable: ``ros2 run sim_node sim_node``."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from sim_node.node.process import hosted, spinning
from sim_node.stop import STOP_SIGNALS, stop_requested


def main(args: Sequence[str] | None = None) -> int:
    """Run a node, unconfigured at first, until SIGINT or SIGTERM; returns the exit code."""
    # What they mean again once a stop was requested: a launch file passes on the Ctrl-C that the terminal has sent
    # already, and the second must not spoil an orderly end.
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with stop_requested() as stop, hosted(sys.argv if args is None else args) as node, spinning(node):
        name = node.get_fully_qualified_name()
        node.get_logger().info(f"unconfigured; to run it: `ros2 lifecycle set {name} configure`, then `activate`")
        stop.wait()
    return 0
