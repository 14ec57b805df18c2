"""One of the plants that are coupled: what it has published since its tick 0, and what its inputs are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sim_node._native import Tick
from sim_node.bridge import Subscriber
from sim_node.errors import WireError
from sim_node.part import Part, told
from sim_node.wires.network import Coupling


class BrokenError(Exception):
    """The plants are no more at one simulated time, or one is gone; says why."""


class Feed:
    """A coupling between two plants whose rings are known.

    Attributes: ``place`` where it is written; ``source``, the member that it comes from; ``step``, its tick that was
    wanted last; ``output`` and ``input``. Raises WireError where the two ends do not fit.
    """

    def __init__(self, coupling: Coupling, source: Member, target: Member) -> None:
        self.place, self.source, self.step = coupling.place, source, 0
        self._delay_ns = coupling.delay_ns
        try:
            self.output = Part.parse(coupling.output, source.ring.layout)
            self.input = Part.parse(coupling.input, target.ring.inputs, "input")
        except ValueError as fault:
            raise WireError(f"{coupling.place}: {fault}") from None
        output, input_ = self.output, self.input
        if output.shape != input_.shape or not np.can_cast(output.dtype, input_.dtype, "safe"):
            raise WireError(f"{coupling.place}: {output} does not fit {input_}: shape and type are to be the same")
        units = output.field.unit, input_.field.unit
        if all(units) and units[0] != units[1]:
            raise WireError(
                f"{coupling.place}: {told(output.field)} is in {units[0]} and {told(input_.field)} in {units[1]}"
            )

    def value(self, stamp_ns: int) -> np.ndarray[Any, Any]:
        """Give the source's value at this simulated time, less the delay: that of its last tick by then."""
        elapsed_ns = max(stamp_ns - self._delay_ns, 0)
        self.step = elapsed_ns // self.source.dt_ns if self.source.dt_ns else 0
        return self.source.value(self.step, self.output)


class Member:
    """A plant from its tick 0 on, read tick by tick.

    Attributes: ``name`` of the node; ``ring``; ``step`` and ``stamp_ns`` of the tick read last; ``dt_ns``, simulated
    time of a tick, 0 until tick 1; ``answered``, whether that tick was; ``readers``, the feeds that come from here.
    """

    def __init__(self, name: str, ring: Subscriber) -> None:
        self.name, self.ring = name, ring
        self.step = self.stamp_ns = self.dt_ns = 0
        self.answered = False
        self.readers: list[Feed] = []
        self._feeds: dict[str, list[Feed]] = {}
        self._generation = ring.generation
        self._history: dict[int, Mapping[str, np.ndarray[Any, Any]]] = {}

    @property
    def time_ns(self) -> int:
        """Simulated time of what is to be done next: the answer to the tick read last, or the tick behind it."""
        return (self.step + 1) * self.dt_ns if self.answered else self.stamp_ns

    def bind(self, feeds: Iterable[Feed]) -> None:
        """Take what fills the inputs. Raises WireError where a number of one is filled twice, or not at all."""
        for feed in feeds:
            self._feeds.setdefault(feed.input.field.name, []).append(feed)
        for name, each in self._feeds.items():
            filled = np.zeros(self.ring.inputs[name].numpy_shape, np.int64)
            for feed in each:
                feed.input.of(filled)[...] += 1
            if (filled != 1).any():
                places = ", ".join(feed.place for feed in each)
                what = "twice" if (filled > 1).any() else "by nothing"
                raise WireError(f"{places}: numbers of input '{name}' of {self.name} are filled {what}")

    def take(self, tick: Tick) -> None:
        """Read a tick, the next one or 0. Raises BrokenError where it is another."""
        if self.ring.generation != self._generation:
            raise BrokenError(f"{self.name} began anew")
        if self._history and tick.step != self.step + 1:
            raise BrokenError(
                f"tick {tick.step} of {self.name} came before its tick {self.step + 1} was read: it does not wait for "
                "its couplings; its clock is to be lockstep, with a coupled input"
            )
        self.step, self.stamp_ns, self.answered = tick.step, tick.stamp_ns, False
        self.dt_ns = tick.stamp_ns // tick.step if tick.step else 0
        self._history[tick.step] = {
            feed.output.text: feed.output.of(tick[feed.output.field.name]).copy() for feed in self.readers
        }
        kept = min((feed.step for feed in self.readers), default=tick.step)
        for step in [step for step in self._history if step < kept]:
            del self._history[step]

    def value(self, step: int, output: Part) -> np.ndarray[Any, Any]:
        """Give what was read at a tick."""
        return self._history[step][output.text]

    def answer(self) -> None:
        """Send the inputs that the tick read last is answered with."""
        for name, feeds in self._feeds.items():
            values = self.ring.command(name)
            for feed in feeds:
                feed.input.of(values)[...] = feed.value(self.stamp_ns)
            self.ring.send(name, answers=self.step)
        self.answered = True
