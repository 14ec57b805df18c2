"""The plan of a plant while ``Plant.build`` records it: launches checked against the declarations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from sim_node.compiler.build import Program
from sim_node.device.cuda import Cuda
from sim_node.errors import PlantError
from sim_node.plant.binding import Binding, StateBinding
from sim_node.plant.hashing import Hashed, hashing
from sim_node.runtime.array import Array
from sim_node.runtime.plan import Plan
from sim_node.runtime.rounds import Rounds
from sim_node.runtime.trace import Trace


class Recording(Plan):
    """A plan that knows a plant's variables.

    Launches take the plant's inputs, states and outputs, too. It refuses, by PlantError, to write values and inputs, to
    read what no launch has written yet, and to leave a next or an output out.
    Attributes: ``substeps`` (runs of its launches in a tick); once it is finished ``rounds`` (what a run is, on a GPU).
    """

    __slots__ = ("_ending", "_names", "_own", "_targets", "_written", "rounds", "substeps")

    def __init__(
        self,
        plant: str,
        bindings: Sequence[Binding],
        outputs: Sequence[str],
        device: Any = None,
        trace: Trace | None = None,
        substeps: int = 1,
    ) -> None:
        super().__init__(device, trace)
        self.substeps = substeps
        self._names = plant
        self._targets: dict[int, Binding] = {}
        for binding in bindings:
            target = binding.next if isinstance(binding, StateBinding) else binding
            if isinstance(binding, StateBinding) or binding.name in outputs:
                self._targets[id(target)] = target
        self._written: set[int] = set()
        self.rounds: Rounds | None = None
        self._own: dict[int, tuple[Any, np.ndarray[Any, Any]]] = {}

    def _admit(self, program: Program, inputs: Sequence[Any], outputs: Sequence[Any], line: str) -> None:
        for value in outputs:
            self._check_output(value, line)
        for value in inputs:
            if id(value) in self._targets and id(value) not in self._written:
                raise self._fault(
                    line, f"{value} is read before any launch has written it; launch what writes it first"
                )
        self._check_kernel(program, inputs, outputs, line)
        self._written |= {id(value) for value in outputs}

    def _check_output(self, value: Any, line: str) -> None:
        if isinstance(value, StateBinding):
            raise self._fault(line, f"{value} in outputs is the state's value; write {value}.next")
        if isinstance(value, Binding) and id(value) not in self._targets:
            raise self._fault(line, f"{value} in outputs is an input of the plant; kernels only read it")

    def _check_kernel(self, program: Program, inputs: Sequence[Any], outputs: Sequence[Any], line: str) -> None:
        """Compare what the kernel writes with where its arguments stand."""
        for position, ((name, _), value) in enumerate(zip(program.params, [*inputs, *outputs])):
            if not isinstance(value, Binding):
                if name in program.written:
                    self._own.setdefault(id(value), (value, np.array(value)))
                continue
            if name in program.written and position < len(inputs) and id(value) not in self._targets:
                where = f"{value}.next" if isinstance(value, StateBinding) else "an output"
                raise self._fault(line, f"kernel '{program.name}' writes '{name}', but {value} may only be read; "
                                        f"write {where} instead")  # fmt: skip
            if name not in program.written and position >= len(inputs):
                raise self._fault(line, f"{value} is in outputs, but kernel '{program.name}' does not write '{name}'; "
                                        "pass it in inputs")  # fmt: skip

    @property
    def _title(self) -> str:
        return f"the plan of {self._names}"

    def _fault(self, line: str, what: str) -> PlantError:
        return PlantError(f"{line}: plant {self._names}: {what}")

    def finish(self, inputs: int = 0, fields: Sequence[tuple[int, Binding, bool]] = ()) -> None:
        """End recording; a run is of as many rounds as there are substeps.

        On a GPU it brings ``inputs`` bytes there, and hashes the state's ``fields`` at its end, each given by bytes,
        the variable that is written, and whether the host has its memory. Raises PlantError when a state's next or an
        output is written by no launch.
        """
        for target in self._targets.values():
            if id(target) not in self._written:
                raise PlantError(f"plant {self._names}: no launch in build() writes {target}; name it in outputs")
        self._ending = inputs, fields
        self.freeze()

    def _end(self) -> None:
        inputs, fields = self._ending
        if not isinstance(self.device, Cuda):
            self.end(self.substeps)
            return
        hashed = [Hashed(i, size, self.number(each), far) for i, (size, each, far) in enumerate(fields) if size]
        self.rounds = Rounds(self, self.substeps, inputs, hashing(self.device, len(fields), hashed))
        self._run_by(self.rounds)

    def _following(self) -> dict[int, int]:
        cells = {id(cell): 2 * number + 1 for number, cell in enumerate(self.cells)}
        states = [cell for cell in self.cells if isinstance(cell, StateBinding)]
        return {cells[id(state.next)]: cells[id(state)] for state in states}

    def number(self, binding: Binding) -> int:
        """The number of a variable's cell in the plan, or -1 where no launch takes it."""
        return next((i for i, cell in enumerate(self.cells) if cell is binding), -1)

    def reset(self) -> None:
        """Give arrays of the plan's own that kernels write the contents that they had when it was built."""
        for value, contents in self._own.values():
            with value.written(whole=True) if isinstance(value, Array) else nullcontext(np.asarray(value)) as memory:
                memory[...] = contents
