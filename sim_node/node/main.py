"""The ROS executable: ``ros2 run sim_node sim_node``."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence

from sim_node.node.process import hosted, spinning

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main(args: Sequence[str] | None = None) -> int:
    """Run a node, unconfigured at first, until SIGINT or SIGTERM; returns the exit code."""
    stop = threading.Event()
    for number in SIGNALS:
        signal.signal(number, lambda *_: stop.set())
    with hosted(sys.argv if args is None else args) as node, spinning(node):
        stop.wait()
    # A launch file passes on the Ctrl-C that the terminal has sent already: the second must not spoil an orderly end.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    return 0
