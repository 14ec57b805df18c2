"""The ROS executable: ``ros2 run sim_node sim_node``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sim_node.node.process import hosted, spinning, stop_requested


def main(args: Sequence[str] | None = None) -> int:
    """Run a node, unconfigured at first, until SIGINT or SIGTERM; returns the exit code."""
    with stop_requested() as stop, hosted(sys.argv if args is None else args) as node, spinning(node):
        stop.wait()
    return 0
