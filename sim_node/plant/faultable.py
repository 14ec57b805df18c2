"""A plant some of whose variables may have faults: itself, between kernels that change what goes in and out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from sim_node import dtypes
from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion
from sim_node.plant.binding import Binding, StateBinding
from sim_node.plant.declarations import ZERO, Declaration, Input, Output, State, Variable
from sim_node.plant.injection import COLUMNS, count, injecting, remembering
from sim_node.plant.plant import Plant
from sim_node.plant.recording import Recording

TABLE = "faults"  # the input that holds the faults
RUNS = f"{TABLE}.runs"  # how often the plan has run since reset
ROWS = 16  # faults that there may be at a time, where nothing else is said
_MOST_ROWS, _MOST_TICKS = 4096, 1_000_000
_MARK = "?faults="
_FORM = "write PLANT?faults=NAME,NAME:TICKS;rows=16, with the longest delay in ticks where one is wanted"


@dataclass(frozen=True)
class Allowed:
    """Which variables of a plant may have faults: name → longest delay in ticks; ``rows`` faults at a time."""

    delays: tuple[tuple[str, int], ...]
    rows: int = ROWS

    @staticmethod
    def parse(text: str) -> Allowed:
        """Read ``NAME,NAME:TICKS;rows=16``; raises PlantError where it says something else."""
        names, _, rest = text.partition(";")
        rows = re.fullmatch(r"rows=(\d{1,6})", rest) if rest else None
        delays = {}
        for each in (part.strip() for part in names.split(",")):
            name, _, ticks = each.partition(":")
            if not name or name in delays or (ticks or "0") != re.sub(r"\D", "", ticks or "0") or len(ticks) > 9:
                raise PlantError(f"'{text}' says '{each}', which is no variable that may have faults; {_FORM}")
            delays[name] = int(ticks or 0)
        if rest and rows is None:
            raise PlantError(f"'{text}' ends with '{rest}'; {_FORM}")
        return Allowed(tuple(delays.items()), int(rows[1]) if rows else ROWS)

    def __str__(self) -> str:
        names = ",".join(f"{name}:{ticks}" if ticks else name for name, ticks in self.delays)
        return f"{names};rows={self.rows}"


def split(reference: str) -> tuple[str, Allowed | None]:
    """Take what a reference says of faults off it. Raises PlantError where that says nothing."""
    plant, mark, text = reference.partition(_MARK)
    return plant, Allowed.parse(text) if mark else None


class FaultablePlant(Plant):
    """What ``faultable`` makes: the plant's own variables, what it truly has of those with faults, and the table.

    Readers see a faulted state or output under its own name, in the ring as it would be without, and the plant goes on
    with ``NAME.true``; ``NAME.applied`` is what the plant gets of an input. ``NAME.held`` is what was seen a tick ago,
    and ``NAME.past`` holds the last ticks, the newest first, where a delay is allowed.
    """

    _original: ClassVar[type[Plant]]
    _allowed: ClassVar[Allowed]

    def __init__(self, **parameters: object) -> None:
        super().__init__(**parameters)
        self._inner = self._original(**self.parameters)
        self._inner._bindings = {each.name: self._inside(each) for each in self._inner.variables}

    @property
    def faultable(self) -> Mapping[str, int]:
        """The variables that may have faults, in the order of their numbers in the table: name → longest delay."""
        return dict(self._allowed.delays)

    def initial(self, seed: int) -> Mapping[str, Any]:
        """What the plant itself chooses, for all that is kept of a variable."""
        chosen = dict(self._inner.initial(seed))
        values = {name: each.initial for name, each in self._inner.declarations.inputs.items()}
        values |= {name: each.initial for name, each in self._inner.declarations.states.items()}
        values |= chosen
        for name, ticks in self._allowed.delays:
            value = values.get(name, ZERO)
            chosen[_kept(self._inner, name)] = chosen[f"{name}.held"] = value
            if ticks:
                chosen[f"{name}.past"] = value
        return chosen

    def build(self, plan: Recording, dt: float) -> None:
        """Launch the kernels of the plant between those of its faults."""
        for number, name in enumerate(self.faultable):
            if name in self._inner.declarations.inputs:
                applied = self._states(f"{name}.applied")
                self._inject(plan, number, name, self._bindings[name], applied, applied.next)
        self._inner.build(plan, dt)
        for number, name in enumerate(self.faultable):
            if name not in self._inner.declarations.inputs:
                seen = self._states(name)
                self._inject(plan, number, name, self._states(f"{name}.true").next, seen, seen.next)
        runs = self._states(RUNS)
        plan.launch(count, dim=1, inputs=[runs], outputs=[runs.next])

    def _inject(
        self, plan: Recording, number: int, name: str, true: Binding, before: StateBinding, seen: Binding
    ) -> None:
        """Launch what gives a variable its faults."""
        longest, rows, runs = self.faultable[name], self._allowed.rows, self._states(RUNS)
        variable = next(each for each in self._inner.variables if each.name == name)
        size, past, held = math.prod(self.counts(variable)), true, self._states(f"{name}.held")
        if longest:
            kept = self._states(f"{name}.past")
            past = kept.next
            plan.launch(
                remembering(variable.dtype), dim=size * (longest + 1),
                inputs=[true, kept, runs, plan.substeps, size], outputs=[past],
            )  # fmt: skip
        plan.launch(
            injecting(variable.dtype), dim=size,
            inputs=[true, before, held, past, self._bindings[TABLE], runs, number, rows, longest, size, plan.substeps],
            outputs=[held.next, seen],
        )  # fmt: skip

    def _states(self, name: str) -> StateBinding:
        binding = self._bindings[name]
        assert isinstance(binding, StateBinding)
        return binding

    def _inside(self, variable: Variable) -> Binding:
        """What the plant's own launches take for one of its variables."""
        name = variable.name
        kept = _kept(self._inner, name) if name in self.faultable else name
        binding = self._bindings[kept]
        is_next = isinstance(variable, Output) or (isinstance(variable, Input) and kept != name)
        return binding.next if is_next else binding


def _kept(plant: Plant, name: str) -> str:
    """Where the plant's own kernels find a variable that may have faults."""
    return f"{name}.applied" if name in plant.declarations.inputs else f"{name}.true"


@cache
def faultable(kind: type[Plant], allowed: Allowed) -> type[FaultablePlant]:
    """Make the plant whose named variables may have faults.

    Its ring has the layout of the plant's own. Raises PlantError for what is no input, state or output that others see.
    """
    declared = kind.declarations
    fields: dict[str, State | Output] = {**declared.states, **declared.outputs}
    known: dict[str, Variable] = {**declared.inputs, **{name: each for name, each in fields.items() if each.publish}}
    if issubclass(kind, FaultablePlant):
        raise PlantError(f"{kind.__name__} may have faults already; name all of its variables at once")
    if any(each.name == TABLE for each in declared):
        raise PlantError(f"plant {kind.__name__}: '{TABLE}' is the input of faults; rename what the plant has so")
    for name, ticks in allowed.delays:
        if name not in known:
            hidden = "; readers do not see it: publish it" if name in declared.states else suggestion(name, known)
            raise PlantError(f"plant {kind.__name__}: '{name}' cannot have faults: no input or published field{hidden}")
        if ticks > _MOST_TICKS:
            raise PlantError(f"plant {kind.__name__}: a delay of '{name}' is at most {_MOST_TICKS} ticks, not {ticks}")
    if not 1 <= allowed.rows <= _MOST_ROWS:
        raise PlantError(f"plant {kind.__name__}: there are 1 … {_MOST_ROWS} faults at a time, not {allowed.rows}")
    members: dict[str, Declaration] = {**declared.parameters, **declared.inputs, **declared.states}
    for name, told in declared.outputs.items():  # what is seen may depend on what was seen before
        members[name] = State(told.unit, told.doc, told.dtype, told.shape, ZERO, told.publish)
    members[TABLE] = Input("", "faults, a row each", dtypes.float64, (allowed.rows, COLUMNS), ZERO, hidden=True)
    members[RUNS] = State("", "runs of the plan", dtypes.int64, (), ZERO, "")
    for name, ticks in allowed.delays:
        of = known[name]
        what = "as the plant gets it" if name in declared.inputs else "as it is"
        kept = f"{name}.applied" if name in declared.inputs else f"{name}.true"
        members[kept] = State(of.unit, f"{name}, {what}", of.dtype, of.shape, of.initial, "")
        members[f"{name}.held"] = State(of.unit, f"{name}, as seen a tick ago", of.dtype, of.shape, of.initial, "")
        if ticks:
            axes = of.shape if isinstance(of.shape, tuple) else (of.shape,)
            members[f"{name}.past"] = State(
                of.unit, f"{name} of the last ticks", of.dtype, (ticks + 1, *axes), ZERO, ""
            )
    about = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    made = type(kind.__name__, (FaultablePlant,), {**about, **members, "_original": kind, "_allowed": allowed})
    assert issubclass(made, FaultablePlant)
    return made


def reference_of_faults(kind: type[Plant]) -> tuple[type[Plant], str]:
    """The plant as its author wrote it, and what its reference says of faults."""
    if issubclass(kind, FaultablePlant):
        return kind._original, f"{_MARK}{kind._allowed}"
    return kind, ""
