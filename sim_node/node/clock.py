"""What fires ticks: the native loop in a thread of its own, or a timer of the node's executor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Protocol

from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.timer import Timer

from sim_node.errors import SimNodeError
from sim_node.node.settings import NS, Settings
from sim_node.plant import Stepper
from sim_node.plant.account import GRANTED

# Of every timer of the node: real time goes on whatever /clock says.
STEADY = RosClock(clock_type=ClockType.STEADY_TIME)


@contextmanager
def timer(node: Node, period_s: float, act: Callable[[], object]) -> Iterator[None]:
    """Act each period inside the block."""
    made = node.create_timer(period_s, act, clock=STEADY)
    try:
        yield
    finally:
        node.destroy_timer(made)


# What may be asked of the operating system for the loop's thread, and what to do where it refuses.
REMEDIES = {
    "priority": "give the process CAP_SYS_NICE, or its user rtprio in /etc/security/limits.conf",
    "affinity": "name a processor that the process may run on: see `taskset -p PID`",
    "lock_memory": "give the process CAP_IPC_LOCK, or its user memlock in /etc/security/limits.conf",
}


class Clock(Protocol):
    """Fires ticks of a stepper between start and stop; all calls come from the executor's thread.

    ``fault`` is what ended it before it was stopped, if anything did; ``refused`` is what the operating system did not
    give it, which it goes on without: name → why.
    """

    fault: BaseException | None
    refused: Mapping[str, str]
    paused: bool

    def start(self) -> None:
        """Fire ticks from now on."""

    def stop(self) -> None:
        """Fire no more; returns when the last tick is done."""

    def pause(self) -> None:
        """Hold the ticks back."""

    def resume(self) -> None:
        """Go on."""

    def step(self, ticks: int) -> None:
        """Do a number of ticks while paused; returns when they are done."""


class LoopClock:
    """The native tick loop: a thread that holds no GIL while it ticks."""

    def __init__(self, stepper: Stepper, settings: Settings) -> None:
        self._stepper, self._settings = stepper, settings
        self._thread: Thread | None = None
        self.fault: BaseException | None = None
        self.refused: Mapping[str, str] = {}
        self.paused = False

    def start(self) -> None:
        """Start the thread."""
        self.fault = None
        self._thread = Thread(target=self._run, name="sim_node clock")
        self._thread.start()
        while self._stepper.phase == "idle" and self._thread.is_alive():  # until then the loop takes no orders
            time.sleep(1e-4)
        self.refused = {name: said for name, said in self._stepper.grants.items() if said not in GRANTED}

    def stop(self) -> None:
        """Stop the loop and wait for the thread."""
        if self._thread is not None:
            self._stepper.stop()
            self._thread.join()
            self._thread = None

    def pause(self) -> None:
        """Hold the ticks back."""
        self._stepper.pause()
        self.paused = True

    def resume(self) -> None:
        """Go on."""
        self._stepper.resume()
        self.paused = False

    def step(self, ticks: int) -> None:
        """Request ticks and wait for them."""
        self._stepper.request(ticks)

    def _run(self) -> None:
        try:
            self._stepper.run(**self._settings.pace)
        except BaseException as fault:  # handed to the executor's thread, which reports it
            self.fault = fault


class TimerClock:
    """A ROS timer: seen by ROS's own tracing, and with the executor's jitter."""

    def __init__(self, stepper: Stepper, settings: Settings, node: LifecycleNode) -> None:
        self._stepper, self._settings, self._node = stepper, settings, node
        self._timer: Timer | None = None
        self.fault: BaseException | None = None
        self.refused: Mapping[str, str] = {}
        self.paused = False

    def start(self) -> None:
        """Create the timer."""
        self.fault = None
        self._timer = self._node.create_timer(
            self._settings.period_ns / NS, self._tick, clock=STEADY, autostart=not self.paused
        )

    def stop(self) -> None:
        """Destroy the timer; its callback is not running, since stop is called in the executor's thread."""
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def pause(self) -> None:
        """Hold the ticks back."""
        self.paused = True
        if self._timer is not None:
            self._timer.cancel()

    def resume(self) -> None:
        """Go on."""
        self.paused = False
        if self._timer is not None:
            self._timer.reset()

    def step(self, ticks: int) -> None:
        """Do the ticks here."""
        self._stepper.tick(ticks)

    def _tick(self) -> None:
        assert self._timer is not None
        due_ns = time.monotonic_ns() + self._timer.time_until_next_call() - self._settings.period_ns
        try:
            self._stepper.tick(1, due_ns)
        except SimNodeError as fault:
            self.fault = fault
            self.stop()


def clock_for(stepper: Stepper, settings: Settings, node: LifecycleNode) -> Clock:
    """Make the clock that the settings name."""
    return TimerClock(stepper, settings, node) if settings.clock == "timer" else LoopClock(stepper, settings)
