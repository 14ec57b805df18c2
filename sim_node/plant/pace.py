"""The pace of a stepper's loop: when its ticks come, and what it does about those that cannot come in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion

# In the order of src/loop.h.
CLOCKS = ("native", "free", "lockstep")
OVERRUNS = ("skip", "catch_up", "hold", "stop")
MISSES = ("hold", "zero", "stop")
ENDINGS = ("done", "stopped", "failed", "unanswered", "late")


@dataclass(frozen=True, slots=True)
class Pace:
    """What ``Stepper.run`` is told.

    Clock 'native' ticks each ``period_ns``, of which the last ``spin_ns`` are spun and not slept; 'free' waits for
    nothing; 'lockstep' waits, before each tick, for commands that answer the last one on ``inputs`` (None: all that
    controllers command), and spins for ``spin_ns`` before it sleeps. Those that do not come within ``limit_ns`` are a
    miss: 'hold' keeps the input's value, 'zero' makes it zero, 'stop' ends the loop. A command that comes after its
    tick is dropped, so that one which answers tick k acts on tick k + 1 or not at all. ``ticks`` ends the loop by
    itself (0: never).

    When instants have passed by whole periods, overrun 'skip' leaves them out, 'catch_up' does their ticks at once, at
    most ``catch_up`` in a row, and leaves out the rest, 'hold' moves all that follow by the delay, 'stop' ends the
    loop. ``priority`` (SCHED_FIFO), ``affinity`` (a processor) and ``lock_memory`` are asked of the operating system.
    """

    period_ns: int
    spin_ns: int = 0
    ticks: int = 0
    clock: str = "native"
    overrun: str = "skip"
    catch_up: int = 100
    priority: int = 0
    affinity: int = -1
    lock_memory: bool = False
    inputs: Sequence[str] | None = None
    limit_ns: int = 100_000_000
    miss: str = "hold"

    def native(self, plant: str, inputs: Sequence[str], commanded: Sequence[str]) -> dict[str, Any]:
        """Give what the native loop takes, for a plant of that name with these inputs, some commanded by controllers.

        Raises PlantError for words that are none of the choices, names that are no inputs and times that cannot be.
        """
        for what, value, choices in (
            ("clock", self.clock, CLOCKS),
            ("overrun", self.overrun, OVERRUNS),
            ("miss", self.miss, MISSES),
            *(("input", name, inputs) for name in self.inputs or ()),
        ):
            if value not in choices:
                raise PlantError(f"{plant}: no {what} '{value}'{suggestion(value, choices)}")
        if self.period_ns <= 0 or self.spin_ns < 0:
            raise PlantError(f"{plant}: a period of {self.period_ns} ns, {self.spin_ns} ns of it spun, is not possible")
        if self.limit_ns <= 0:
            raise PlantError(f"{plant}: a limit of {self.limit_ns} ns for answers is not possible")
        awaited = commanded if self.inputs is None else self.inputs
        if self.clock == "lockstep" and not awaited:
            raise PlantError(f"{plant}: the lockstep clock has no input to wait for; name one, or use clock 'free'")
        return {
            "period_ns": self.period_ns if self.clock == "native" else 0,
            "spin_ns": self.spin_ns,
            "ticks": self.ticks,
            "overrun": OVERRUNS.index(self.overrun),
            "catch_up": self.catch_up,
            "priority": self.priority,
            "affinity": self.affinity,
            "lock_memory": self.lock_memory,
            "awaited": sum(1 << inputs.index(name) for name in set(awaited)) if self.clock == "lockstep" else 0,
            "limit_ns": self.limit_ns,
            "miss": MISSES.index(self.miss),
        }

    def ended(self, plant: str, ending: str, step: int, inputs: Sequence[str]) -> str:
        """Give a loop's ending, or raise PlantError that says why it ended: inputs without an answer, or late."""
        if ending == "unanswered":
            names = ", ".join(f"'{name}'" for name in inputs)
            raise PlantError(f"{plant}: no answer to tick {step} on {names} within {self.limit_ns / 1e6:g} ms")
        if ending == "late":
            raise PlantError(
                f"{plant}: tick {step + 1} is late by more than its period of {self.period_ns / 1e6:g} ms; "
                "overrun 'skip', 'catch_up' or 'hold' would go on"
            )
        return ending


def select(names: Sequence[str], bits: int) -> list[str]:
    """Those names whose bits are set."""
    return [name for number, name in enumerate(names) if bits >> number & 1]
