"""The ROS executable: ``ros2 run sim_node sim_node``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sim_node.node.process import hosted, spinning
from sim_node.stop import end_at_the_first, stop_requested


def main(args: Sequence[str] | None = None) -> int:
    """Run a node, unconfigured at first, until SIGINT or SIGTERM; returns the exit code."""
    end_at_the_first()
    with stop_requested() as stop, hosted(sys.argv if args is None else args) as node, spinning(node):
        name = node.get_fully_qualified_name()
        node.get_logger().info(f"unconfigured; to run it: `ros2 lifecycle set {name} configure`, then `activate`")
        stop.wait()
    return 0
