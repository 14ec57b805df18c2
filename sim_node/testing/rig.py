"""A plant under test: time goes on when the test says so, and all that happened can be looked at afterwards."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sim_node.errors import PlantError, SimNodeError, StabilityWarning
from sim_node.layout import Field
from sim_node.plant import Keyframe, Stepper
from sim_node.plant.fault_table import FaultTable
from sim_node.plant.faultable import TABLE
from sim_node.replay.history import History, of_stepper
from sim_node.testing.drive import Drive
from sim_node.testing.options import Options
from sim_node.testing.reading import Reading

SHOWN = 6  # elements of a value that a line shows


class Series(NamedTuple):
    """A variable over a run: ``seconds`` (n,) of simulated time, and ``values`` (n, *shape), after each tick."""

    seconds: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Act:
    """What a test did, and when, in simulated seconds."""

    seconds: float
    what: str


class Rig:
    """A plant at step 0 with its controller, recorded from the first tick to the last; inside the block.

    In lockstep, the default, the controller's answer to a tick acts on the next one, however long it takes to come,
    and time stands still between the test's calls. With ``realtime`` ticks come by the clock while a call lasts.
    Attributes: ``options``, ``bag`` (its path), ``acts`` (what was done), ``wall_s`` (real seconds that ticks took).
    """

    def __init__(self, options: Options, bag: Path) -> None:
        self.options, self.bag = options, bag
        self.acts: list[Act] = []
        self.wall_s = 0.0
        self._drive = _drive(options, bag)
        self._shadow: Stepper | None = None
        self._over: History | None = None
        self._faults: FaultTable

    def __enter__(self) -> Rig:
        self.bag.parent.mkdir(parents=True, exist_ok=True)
        self._drive.__enter__()
        self._faults = FaultTable(self._drive.stepper.plant, self.options.dt_ns)
        return self

    def __exit__(self, *_: object) -> None:
        self._drive.__exit__()

    # ---- time ----

    @property
    def step(self) -> int:
        """The number of the last tick; 0 at the start."""
        return self._drive.stepper.step

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self.step * self.options.dt_ns * 1e-9

    def run(self, seconds: float) -> None:
        """Let so many seconds of simulated time go by, in whole ticks.

        Raises SimNodeError where the controller fails to answer, KernelError where a kernel stops itself, and what a
        controller's function raises.
        """
        ticks = self._ticks(seconds)
        self._act(f"run {seconds:g} s")
        self._go(ticks)

    def until(self, condition: Callable[[Reading], Any], timeout: float) -> float:
        """Go on until a condition holds, which is asked at once and after each tick; returns the time.

        ``timeout`` is in seconds of simulated time. Raises AssertionError when it is over, with the last values of all
        that the condition asked for; and as ``run``.
        """
        __tracebackhide__ = True
        ticks = self._ticks(timeout)
        self._act(f"wait at most {timeout:g} s until {_source(condition)}")
        last: list[Reading] = []

        def done(reading: Reading) -> bool:
            last[:] = [reading]
            return _holds(condition, reading)

        if not self._go(ticks, done):
            raise AssertionError(self._missed(condition, timeout, last[0]))
        return self.time

    # ---- the plant ----

    def set(self, name: str, value: Any) -> None:
        """Give an input a value from the next tick on, until it is set again; what a controller commands wins over it.

        Raises PlantError for an unknown input, or a value that does not fit.
        """
        self._drive.stepper.set(name, value)
        self._act(f"set {name} = {_shown(np.asarray(value))}")

    def fault(self, name: str, **asked: Any) -> None:
        """Give an input or a published field a fault, from the next tick on where nothing else is said.

        One of ``stuck_at``, ``offset``, ``gain``, ``noise``, ``delay`` (s), ``drop``, ``nan`` and ``flip_bit``; also
        ``element``, ``after`` and ``until`` (s), ``first_tick`` and ``last_tick``, ``seed``. Raises PlantError for what
        cannot be, and for a name that the option ``faults`` has not.
        """
        told = self._faults.inject({**asked, "variable": name}, self.step)
        self._drive.stepper.set(TABLE, self._faults.rows())
        self._act(f"fault: {told}")

    def clear(self, name: str = "") -> None:
        """Take away the faults of an input or field, or all of them, from the next tick on.

        Raises PlantError for a name that the option ``faults`` has not.
        """
        count = self._faults.clear(name)
        if count:
            self._drive.stepper.set(TABLE, self._faults.rows())
        self._act(f"clear {count} faults{f' of {name}' if name else ''}")

    def get(self, name: str) -> Any:
        """Copy a state, output or input as it is after the last tick: a number where it is a single one.

        Raises PlantError for an unknown name.
        """
        return self._reading()[name]

    def history(self, name: str) -> Series:
        """Give a state, output or input after each tick so far, computed again from the inputs that were recorded.

        Raises PlantError for an unknown name.
        """
        over = self.histories()
        if name not in over.values:
            self._drive.stepper.get(name)  # which says what there is
        return Series(over.seconds, over.values[name])

    def histories(self) -> History:
        """Give all states, outputs and inputs after each tick so far."""
        if self._over is None or len(self._over.seconds) != self.step:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StabilityWarning)  # the rig's own stepper has told
                self._shadow = self._shadow or self._another()
            self._shadow.restore(self.start)
            self._over = of_stepper(self._shadow, [field.name for field in self.fields], self._drive.rows())
        return self._over

    @property
    def fields(self) -> list[Field]:
        """The inputs, states and outputs."""
        return [*self._drive.stepper.input_layout, *self._drive.stepper.state_layout]

    @property
    def names(self) -> Mapping[str, str]:
        """What others find the plant by: ``ring`` where a process controls it, ``node`` and ``namespace`` in ROS."""
        return self._drive.names

    @property
    def start(self) -> Keyframe:
        """The state at the start, with all that says which computation this is."""
        return self._drive.start

    @property
    def stepper(self) -> Stepper:
        """The plant's stepper: its statistics, and what else a test may look at. Ticks are the rig's to do."""
        return self._drive.stepper

    # ---- inside ----

    def _ticks(self, seconds: float) -> int:
        if not 0 <= seconds < 1e9:
            raise PlantError(f"a rig goes on for 0 to 1e9 seconds, not {seconds!r}")
        return round(seconds * 1e9 / self.options.dt_ns)

    def _act(self, what: str) -> None:
        self.acts.append(Act(self.time, what))

    def _go(self, ticks: int, done: Callable[[Reading], bool] | None = None) -> bool:
        """Do ticks until ``done``, which is asked before the first and after each; tell whether it was."""
        drive, function = self._drive, self.options.function
        if done is not None and done(self._reading()):
            return True
        begun = time.monotonic()
        try:
            drive.begin()
            end = self.step + ticks
            while self.step < end:
                if function is not None:
                    self._control(function)
                drive.tick(1 if function is not None or done is not None else min(end - self.step, drive.room))
                if done is not None and done(self._reading()):
                    return True
        finally:
            self.wall_s += time.monotonic() - begun
        return False

    def _control(self, function: Callable[[Reading], Any]) -> None:
        """Let a function answer the last tick."""
        commands = function(self._reading())
        if commands is None:
            return
        if not hasattr(commands, "items"):
            raise PlantError(
                f"the controller {_name(function)} returned {commands!r}; it returns commands by name of the input, "
                'as {"force": 1.0}, or None'
            )
        for name, command in commands.items():
            self._drive.stepper.set(name, command)

    def _reading(self) -> Reading:
        return Reading(self._drive.stepper.get, self.step, self.options.dt_ns)

    def _another(self) -> Stepper:
        options = self.options
        dt_ns, substeps, seed, device = options.dt_ns, options.substeps, options.seed, options.device
        return Stepper(options.make(), dt_ns=dt_ns, substeps=substeps, seed=seed, device=device)

    def _missed(self, condition: Callable[[Reading], Any], timeout: float, last: Reading) -> str:
        names = list(last.read) or [field.name for field in self.fields]
        units = {field.name: field.unit for field in self.fields}
        begun = len(self.histories().seconds) - self._ticks(timeout)
        lines = [f"{_source(condition)} did not hold within {timeout:g} s of simulated time"]
        lines += [f"  last values, at t = {last.time:g} s (tick {last.step}):"]
        for name in names:
            rows = self.histories().values[name][max(begun, 0) :]
            unit = f" {units[name]}" if units[name] else ""
            span = f", from {_shown(rows.min())} to {_shown(rows.max())} on the way" if rows.size else ""
            lines.append(f"    {name} = {_shown(last[name])}{unit}{span}")
        return "\n".join([*lines, f"  bag: {self.bag}"])


def _drive(options: Options, bag: Path) -> Drive:
    if options.ros is None:
        return Drive(options, bag)
    try:
        from sim_node.testing.node_drive import NodeDrive
    except ImportError as fault:
        raise SimNodeError(f"a rig with ros={{…}} is a ROS 2 node, and there is no ROS here ({fault})") from fault
    return NodeDrive(options, bag)


def _holds(condition: Callable[[Reading], Any], reading: Reading) -> bool:
    held = condition(reading)
    if np.ndim(held):
        raise PlantError(
            f"{_source(condition)} gives {np.size(held)} truths, one an element: end it with .all() or .any(), or take "
            "one element"
        )
    return bool(held)


def _shown(value: Any) -> str:
    flat = np.ravel(value)
    parts = [f"{part:.6g}" if flat.dtype.kind == "f" else str(part) for part in flat[:SHOWN]]
    more = f", … {flat.size} elements" if flat.size > SHOWN else ""
    return f"[{', '.join(parts)}{more}]" if np.ndim(value) else parts[0]


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _source(condition: Callable[..., Any]) -> str:
    """Quote a lambda from the line where it stands; name another function."""
    name = _name(condition)
    if name != "<lambda>":
        return name
    with suppress(OSError, TypeError):
        line = " ".join(inspect.getsource(condition).split())
        begin = line.index("lambda")
        return _balanced(line[begin:])
    return "the condition"


def _balanced(text: str) -> str:
    """Cut a lambda where the call that it stands in goes on."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0 or (depth == 0 and letter == "," and ":" in text[:at]):
            return text[:at]
    return text
