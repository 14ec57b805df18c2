"""The watchdog: a thread that sees from outside a tick that does not return, which no code of the tick can tell."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from threading import Event, Thread

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode

from sim_node.node.assembly import Assembly
from sim_node.node.topic import Topic

EXIT_CODE = 70  # of a process that the watchdog ends: EX_SOFTWARE of sysexits.h
LOOKS = 4  # within a limit
ACKNOWLEDGED = Duration(seconds=1.0)


class Watchdog:
    """The thread, alive inside the block, if the settings ask for one.

    A tick that takes longer than the limit is told at once in the log and on /diagnostics, from this thread, since the
    executor may be the one that hangs. Then the process ends, or the node stays as it is.
    """

    def __init__(self, node: LifecycleNode, assembly: Assembly) -> None:
        self._node, self._assembly = node, assembly
        self._limit_ns = round(assembly.settings.watchdog_ms * 1e6)
        self._leaving, self._made = Event(), ExitStack()
        self._hung: tuple[int, str] | None = None
        self._told_ns = 0

    def __enter__(self) -> Watchdog:
        if self._limit_ns:
            with ExitStack() as making:
                self._topic = making.enter_context(Topic(self._node, DiagnosticArray, "/diagnostics", 10))
                thread = Thread(target=self._run, name="sim_node watchdog", daemon=True)
                thread.start()
                making.callback(thread.join)
                making.callback(self._leaving.set)
                self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def status(self) -> DiagnosticStatus:
        """Tell on /diagnostics whether a tick hangs."""
        hung = self._hung
        return DiagnosticStatus(
            level=DiagnosticStatus.OK if hung is None else DiagnosticStatus.ERROR,
            name=f"{self._node.get_fully_qualified_name().removeprefix('/')}: watchdog",
            message="" if hung is None else self._words(*hung),
            values=[
                KeyValue(key="limit_ms", value=f"{self._limit_ns / 1e6:g}"),
                KeyValue(key="kernel", value="" if hung is None else hung[1]),
            ],
        )

    def _words(self, began_ns: int, kernel: str) -> str:
        seconds = (time.monotonic_ns() - began_ns) / 1e9
        return f"tick {self._assembly.stepper.step + 1} has not returned for {seconds:.2f} s: it is in kernel {kernel}"

    def _run(self) -> None:
        while not self._leaving.wait(min(self._limit_ns / 1e9 / LOOKS, 0.25)):
            flight, now = self._assembly.stepper.in_flight(), time.monotonic_ns()
            if flight is not None and now - flight[0] > self._limit_ns:
                self._declare(flight, now)
            elif self._hung is not None:
                self._node.get_logger().warning(f"the tick returned after {(now - self._hung[0]) / 1e9:.2f} s")
                self._hung = None

    def _declare(self, flight: tuple[int, str], now: int) -> None:
        """Tell of a tick that hangs, once in the log, and on /diagnostics each period."""
        settings = self._assembly.settings
        first = self._hung is None or self._hung[0] != flight[0]
        if not first and now - self._told_ns < settings.diagnostics_period * 1e9:
            return
        self._hung, self._told_ns = flight, now
        message = DiagnosticArray(status=[self.status()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._topic.publish(lambda: message)
        if not first:
            return
        after = "the process ends" if settings.watchdog == "end" else "the node stays as it is"
        self._node.get_logger().fatal(f"{self._words(*flight)}; {after} (parameter watchdog)")
        if settings.watchdog == "end":
            self._topic.publisher.wait_for_all_acked(ACKNOWLEDGED)
            self._assembly.publisher.close()  # readers learn at once that no tick will come, and no segment is left
            os._exit(EXIT_CODE)
