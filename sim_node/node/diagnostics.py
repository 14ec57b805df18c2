"""What /diagnostics tells of a running plant, and the log, now and then, when ticks were late or lost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.lifecycle import LifecycleNode

from sim_node.bridge.inventory import InputInfo, WriterInfo, inputs_of
from sim_node.node.assembly import Assembly
from sim_node.node.clock import timer
from sim_node.node.limits import judged
from sim_node.node.topic import Topic
from sim_node.node.watchdog import Watchdog
from sim_node.plant import Distribution, reference_of

# Counters that should stand still, and how a rise of each is told.
FAULTS = {
    "misses": "ticks missed their deadline",
    "skipped": "ticks were skipped",
    "unanswered": "ticks had no answer in time",
    "dropped": "ticks were not published, since readers hold every slot",
    "lost": "ticks have no record: the queue of records was full",
    "keyframes_skipped": "keyframes were skipped: the one before was not taken yet",
}


class Diagnostics:
    """The publisher and its timer, alive inside the block."""

    def __init__(self, node: LifecycleNode, assembly: Assembly, watchdog: Watchdog) -> None:
        self._node, self._assembly, self._watchdog = node, assembly, watchdog
        self._made = ExitStack()

    def __enter__(self) -> Diagnostics:
        self._begin()
        with ExitStack() as making:
            self._topic = making.enter_context(Topic(self._node, DiagnosticArray, "/diagnostics", 10))
            period = self._assembly.settings.diagnostics_period
            making.enter_context(timer(self._node, period, self._publish))
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _begin(self) -> None:
        """Begin the accounts of a period, and of what the log has not told; again where a reset made a new stepper."""
        self._stepper = self._assembly.stepper
        self._period, self._untold = self._stepper.observe(), self._stepper.observe()
        self._then, self._was = time.monotonic_ns(), self._assembly.state
        self._since, self._quiet_until = self._then, 0

    def _publish(self) -> None:
        """Tell of the period that ends now."""
        if self._stepper is not self._assembly.stepper:
            self._begin()
        now = time.monotonic_ns()
        self._topic.publish(partial(self._message, (now - self._then) / 1e9))
        self._log(now)
        self._period.reset()
        self._then, self._was = now, self._assembly.state

    def _log(self, now: int) -> None:
        """Tell the log of faults, those of a flood in one line for all since the last."""
        faults = list(_faults(self._untold.counters("reset")))
        if faults and now >= self._quiet_until:
            self._node.get_logger().warning(f"in the last {(now - self._since) / 1e9:.1f} s {', '.join(faults)}")
            self._untold.reset()
            self._since, self._quiet_until = now, now + round(self._assembly.settings.log_period * 1e9)

    def _message(self, seconds: float) -> DiagnosticArray:
        assembly, counted = self._assembly, self._period.counters("reset")
        refused = [f"{name}: {said}" for name, said in assembly.clock.refused.items()]
        faults = list(_faults(counted))
        verdicts = list(judged(assembly.settings, self._judged(counted, seconds)))
        minor = [DiagnosticStatus.WARN] if refused or any(counted[name] for name in FAULTS if name != "misses") else []
        status = DiagnosticStatus(
            level=max([DiagnosticStatus.OK, *minor, *(level for level, _ in verdicts)]),
            name=f"{self._node.get_fully_qualified_name().removeprefix('/')}: plant",
            hardware_id=reference_of(type(assembly.plant)),
            message="; ".join((assembly.state, *faults, *(text for _, text in verdicts), *refused)),
            values=[KeyValue(key=key, value=value) for key, value in self._values(counted, seconds)],
        )
        message = DiagnosticArray(status=[status, self._watchdog.status()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        return message

    def _judged(self, counted: Mapping[str, int], seconds: float) -> dict[str, float]:
        """The figures that have limits; a period in which the clock stood still has no real-time factor."""
        told = self._period.distributions("reset")
        figures = {name: told[name].max / 1e3 for name in ("lateness", "step_time", "command_age")}
        figures["misses"] = counted["misses"]
        if self._was == self._assembly.state == "running":
            figures["real_time_factor"] = counted["ticks"] / seconds * self._stepper.dt_ns / 1e9
        return figures

    def _values(self, counted: Mapping[str, int], seconds: float) -> Iterator[tuple[str, str]]:
        """Figures of the period, in microseconds where a name ends so; then totals and what does not change."""
        assembly, stepper = self._assembly, self._assembly.stepper
        rate = counted["ticks"] / seconds
        yield "state", assembly.state
        yield "step", str(stepper.step)
        yield "rate_hz", f"{rate:.3f}"
        yield "real_time_factor", f"{rate * stepper.dt_ns / 1e9:.4f}"
        for name, distribution in self._period.distributions("reset").items():
            yield from _figures(name, distribution)
        for each in inputs_of(assembly.publisher.ring, assembly.publisher.inputs):
            yield from _of_input(each)
        for number, field in enumerate(stepper.input_layout):
            for name, distribution in self._period.commands(number, "reset").items():
                yield from _figures(f"input.{field.name}.{name}", distribution)
        for input_name, counts in stepper.answers().items():
            for name, count in counts.items():
                yield f"input.{input_name}.{name}", str(count)
        for name, count in stepper.counters().items():
            yield name, str(count)
        yield "faults", "; ".join(map(str, assembly.faults.active(stepper.step)))
        yield "copies_per_tick", f"{stepper.copies_per_tick:g}"
        readers = [row for row in assembly.publisher.ring.readers() if row[1]]
        yield "readers", " ".join(str(pid) for pid, *_ in readers if pid != os.getpid())
        yield "leases", str(sum(leases for _, _, leases, *_ in readers))
        yield "leases_revoked", str(sum(revoked for *_, revoked in readers))
        yield "transport", assembly.publisher.transport
        if (exported := assembly.publisher.exported) is not None:
            yield "device_transport", exported.transport
            yield "device_transport_why", exported.why
            yield "mapped_by", " ".join(map(str, assembly.publisher.ring.mappers()))
        yield "generation", str(assembly.publisher.generation)
        yield "clock", assembly.settings.clock
        yield from stepper.grants.items()


def _faults(counted: Mapping[str, int]) -> Iterator[str]:
    return (f"{counted[name]} {text}" for name, text in FAULTS.items() if counted[name])


def _of_input(told: InputInfo) -> Iterator[tuple[str, str]]:
    """Who is in charge of an input, who else sends to it, and the command that was applied last."""
    others = [writer for writer in told.writers if not writer.in_charge]
    yield f"input.{told.name}.in_charge", _writer(told.charge) if told.charge else ""
    yield f"input.{told.name}.others", ", ".join(map(_writer, others))
    for name, step in (("applied_step", told.step), ("answered_step", told.answers)):
        if step is not None:
            yield f"input.{told.name}.{name}", str(step)


def _writer(writer: WriterInfo) -> str:
    return f"{writer.name} (pid {writer.pid}, priority {writer.priority})"


def _figures(name: str, distribution: Distribution) -> Iterator[tuple[str, str]]:
    if distribution.count == 0:
        return
    unit, scale = ("", 1.0) if name.endswith("delay_ticks") else ("_us", 1e-3)
    for figure in ("p50", "p99", "max"):
        yield f"{name}_{figure}{unit}", f"{getattr(distribution, figure) * scale:g}"
