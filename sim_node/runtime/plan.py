"""Plans: launches recorded once, with their arguments checked and packed, and run by one native call."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from sim_node import _native
from sim_node.compiler.build import Program
from sim_node.device import driver
from sim_node.device.cuda import Cuda
from sim_node.device.names import Device, get_device
from sim_node.errors import StabilityWarning
from sim_node.lang.kernel import Kernel
from sim_node.runtime.caller import caller
from sim_node.runtime.fault import LOST, coordinates, kernel_error
from sim_node.runtime.foreign import adopted
from sim_node.runtime.generic import concrete
from sim_node.runtime.prints import show
from sim_node.runtime.program import Entry, load, sized, variant
from sim_node.runtime.refusal import launch_error, plan_error
from sim_node.runtime.rounds import Rounds
from sim_node.runtime.stability import judge, warn
from sim_node.runtime.trace import Trace

# Half of what super() costs, on every tick.
_run, _point = _native.Plan.run, _native.Plan.point


@dataclass(frozen=True, slots=True)
class Recorded:
    """One launch of a plan: what runs, over which grid, and the line that recorded it."""

    kernel: Kernel
    program: Program
    dim: int | tuple[int, ...]
    line: str


class Plan(_native.Plan):
    """A list of launches: recorded by ``launch``, ended by ``freeze``, then run any number of times.

    It keeps the arrays it uses. Attributes: ``launches``, ``cells`` (in the order of their numbers), ``frozen``,
    ``device``, ``warnings`` (what the stability pass found when it was frozen), ``trace``.
    """

    __slots__ = ("device", "launches", "trace", "warnings")

    def __init__(self, device: str | Device | None = None, trace: Trace | None = None) -> None:
        """Leave spans of what each launch takes in a trace; on a GPU that costs time, an event a launch.

        Raises DeviceError for an unknown device.
        """
        self.device, self.trace = get_device(device), trace
        self.launches: list[Recorded] = []
        self.warnings: list[StabilityWarning] = []

    def launch(
        self,
        kernel: Kernel,
        dim: int | Sequence[int],
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        *,
        block_dim: int | None = None,
        max_blocks: int | None = None,
    ) -> None:
        """Record a launch; arguments as in ``sn.launch``, and a Cell where an address changes from run to run.

        Raises LaunchError when arguments do not fit or the plan is frozen, BuildError when the kernel cannot be
        compiled.
        """
        kernel = concrete(kernel, inputs, outputs)
        entry = sized(load(kernel, self.device), block_dim, max_blocks)
        ran = self._record(entry, kernel, dim, inputs, outputs)
        grid, line = tuple(dim) if isinstance(dim, Sequence) else dim, caller()
        self._admit(ran.program, inputs, outputs, line)
        self.launches.append(Recorded(kernel, ran.program, grid, line))

    def _admit(self, program: Program, inputs: Sequence[Any], outputs: Sequence[Any], line: str) -> None:
        """Refuse a launch that fits, but not the plan."""

    def _record(self, entry: Entry, kernel: Kernel, dim: Any, inputs: Any, outputs: Any) -> Any:
        """Record with arrays over what is memory of other libraries, or compiled for layouts that are new."""
        try:
            try:
                return self.record(entry, dim, inputs, outputs)
            except _native.Refusal as refusal:
                borrowed = adopted(entry.program.params, inputs, outputs, self.device)
                if borrowed is not None:
                    return self._record(entry, kernel, dim, *borrowed[:2])
                if refusal.args[1] != "layout":
                    raise
                return self.record(variant(entry, kernel, inputs, outputs), dim, inputs, outputs)
        except _native.Refusal as refusal:
            raise launch_error(refusal, entry, dim, inputs, outputs) from None

    def freeze(self) -> None:
        """End recording, and warn with StabilityWarning of springs and dampers that its steps cannot follow."""
        if not self.frozen:
            self._end()
            if self.trace is not None:
                self.leave(self.trace)
            self.warnings = judge(self.launches, self.images(), self._following())
            warn(self.warnings)

    def _end(self) -> None:
        """End recording; a run is of one round of the launches."""
        if isinstance(self.device, Cuda):
            self._run_by(Rounds(self))
        else:
            self.end()

    def _run_by(self, rounds: Rounds) -> None:
        self.end(
            rounds.count, rounds.reports, rounds.handle, rounds.cells, rounds.marks, rounds.mark_count, rounds
        )  # fmt: skip

    def _following(self) -> dict[int, int]:
        """Which array is the next of which, by their identities in images; none where arrays are changed in place."""
        return {}

    def point(self, cell: _native.Cell, array: Any) -> None:
        """Set where a cell is: at a writeable array of its dtype and shape, which the plan keeps.

        Raises LaunchError when the array does not fit, or no launch takes the cell.
        """
        try:
            _point(self, cell, array)
        except _native.Refusal as refusal:
            raise plan_error(refusal, self.cells, array) from None

    def run(self) -> None:
        """Run every launch in order, in one native call that allocates nothing.

        Raises KernelError when a thread stopped itself (later launches are not run), LaunchError when the plan is not
        frozen, a cell has no address, or another thread is running the plan.
        """
        try:
            stopped = _run(self)
        except _native.Refusal as refusal:
            raise plan_error(refusal, self.cells) from None
        if stopped is not None:
            self.fail(*stopped)

    def show(self, records: bytes, lost: int) -> None:
        """Write what its launches printed."""
        show([launch.program for launch in self.launches], records, lost)

    @property
    def _title(self) -> str:
        return "a plan"

    def fail(self, launch: int, site: int, thread: int, index: int, length: int) -> NoReturn:
        """Raise the KernelError of a thread that stopped itself in one of the launches, or the driver's DriverError."""
        if site == LOST:
            first = f"whose first launch is at {self.launches[0].line}" if self.launches else "which launches nothing"
            raise driver.lost(f"{self._title}, {first}", index)
        at = self.launches[launch]
        raise kernel_error(at.program, at.line, coordinates(at.dim, thread), site, thread, index, length)

    @property
    def guarded(self) -> tuple[str, ...]:
        """Names of the kernels with ``guards="clamp"``."""
        return tuple(dict.fromkeys(each.kernel.name for each in self.launches if each.kernel.options.guards))

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of programs, dims, scalars, lengths and which argument is which memory; not of addresses."""
        text = hashlib.sha256()
        for launch, image in zip(self.launches, self.images()):
            text.update(f"{launch.program.digest} {np.ravel(launch.dim)} {len(image)} ".encode() + image)
        return text.hexdigest()
