"""What /diagnostics tells of a running plant, and the log once a period when ticks were late or lost."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.lifecycle import LifecycleNode

from sim_node.bridge.inventory import InputInfo, WriterInfo, inputs_of
from sim_node.node.assembly import Assembly
from sim_node.node.clock import STEADY
from sim_node.node.topic import Topic
from sim_node.plant import Distribution, reference_of

GRANTED = ("granted", "not asked")

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

    def __init__(self, node: LifecycleNode, assembly: Assembly) -> None:
        self._node, self._assembly = node, assembly
        self._made = ExitStack()
        self._then = 0

    def __enter__(self) -> Diagnostics:
        self._begin_period()
        with ExitStack() as making:
            self._topic = making.enter_context(Topic(self._node, DiagnosticArray, "/diagnostics", 10))
            period = self._assembly.settings.diagnostics_period
            making.callback(self._node.destroy_timer, self._node.create_timer(period, self._publish, clock=STEADY))
            self._made = making.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._made.close()

    def _begin_period(self) -> None:
        self._assembly.stepper.reset_statistics()
        self._then = time.monotonic_ns()

    def _publish(self) -> None:
        """Tell of the period that ends now; a reset of the plant begins one too."""
        counted = self._assembly.stepper.counters("reset")
        seconds = (time.monotonic_ns() - self._then) / 1e9
        faults = [f"{counted[name]} {text}" for name, text in FAULTS.items() if counted[name]]
        self._topic.publish(partial(self._message, counted, seconds, faults))
        if faults:
            self._node.get_logger().warning(f"in the last {seconds:.1f} s {', '.join(faults)}")
        self._begin_period()

    def _message(self, counted: Mapping[str, int], seconds: float, faults: Sequence[str]) -> DiagnosticArray:
        assembly = self._assembly
        refused = [f"{name}: {said}" for name, said in assembly.stepper.grants.items() if said not in GRANTED]
        status = DiagnosticStatus(
            level=DiagnosticStatus.WARN if faults or refused else DiagnosticStatus.OK,
            name=f"{self._node.get_fully_qualified_name().removeprefix('/')}: plant",
            hardware_id=reference_of(type(assembly.plant)),
            message="; ".join((self._state(), *faults, *refused)),
            values=[KeyValue(key=key, value=value) for key, value in self._values(counted, seconds)],
        )
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        return message

    def _state(self) -> str:
        if not self._assembly.running:
            return "inactive"
        return "paused" if self._assembly.clock.paused else "running"

    def _values(self, counted: Mapping[str, int], seconds: float) -> Iterator[tuple[str, str]]:
        """Figures of the period, in microseconds where a name ends so; then totals and what does not change."""
        assembly, stepper = self._assembly, self._assembly.stepper
        rate = counted["ticks"] / seconds
        yield "state", self._state()
        yield "step", str(stepper.step)
        yield "rate_hz", f"{rate:.3f}"
        yield "real_time_factor", f"{rate * stepper.dt_ns / 1e9:.4f}"
        for name, distribution in stepper.statistics("reset").items():
            yield from _figures(name, distribution)
        for each in inputs_of(assembly.publisher.ring, assembly.publisher.inputs):
            yield from _of_input(each)
        for input_name, distributions in stepper.command_statistics("reset").items():
            for name, distribution in distributions.items():
                yield from _figures(f"input.{input_name}.{name}", distribution)
        for input_name, counts in stepper.answers().items():
            for name, count in counts.items():
                yield f"input.{input_name}.{name}", str(count)
        for name, count in stepper.counters().items():
            yield name, str(count)
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
