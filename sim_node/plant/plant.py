"""A plant: parameters, inputs, state, outputs, and the launches that make one substep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from sim_node.errors import PlantError
from sim_node.errors.suggestion import suggestion
from sim_node.layout import Layout
from sim_node.plant.binding import Binding, StateBinding
from sim_node.plant.declarations import PLACES, Declarations, Output, State, Value, Variable
from sim_node.plant.recording import Recording

_RESERVED = ("declarations", "title", "parameters", "variables", "faultable", "counts", "layout", "host_layout",
             "device_layout", "state_layout", "input_layout", "initial", "build")  # fmt: skip


class Plant:
    """Base of every plant: declare in the class body, and launch kernels in ``build``.

    ``Plant(**parameters)`` checks the parameters; those not given have their defaults. On the class a declared name is
    the declaration; on a plant a parameter is its value, and an input, state or output what ``plan.launch`` takes.
    Raises PlantError naming class, parameter and range.
    """

    declarations: ClassVar[Declarations]
    title: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        try:
            cls.declarations = Declarations.of(cls)
        except PlantError as fault:
            raise PlantError(f"plant {cls.__name__}: {fault}") from None
        cls.title = next(iter((cls.__doc__ or "").strip().splitlines()), "").rstrip(".")
        for declaration in cls.declarations:
            name = declaration.name
            if name in _RESERVED or name.startswith("_"):
                raise PlantError(
                    f"plant {cls.__name__}: '{name}' cannot be declared: the name is taken; choose another"
                )

    def __init__(self, **parameters: object) -> None:
        if type(self) is Plant:
            raise PlantError("Plant is what plants are made of: write a class of your own, class Name(sn.Plant):")
        known = self.declarations.parameters
        for name in parameters:
            if name not in known:
                raise PlantError(f"{type(self).__name__} has no parameter '{name}'{suggestion(name, known)}")
        self._values: dict[str, Value] = {}
        for name, declared in known.items():
            try:
                self._values[name] = declared.convert(parameters.get(name, declared.default))
            except PlantError as fault:
                raise PlantError(f"{type(self).__name__}: parameter '{name}' {fault}") from None
        self._bindings = {variable.name: self._bind(variable) for variable in self.variables}

    @property
    def parameters(self) -> Mapping[str, Value]:
        """The values of all parameters, by name."""
        return dict(self._values)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The declarations of inputs, states and outputs."""
        declared = self.declarations
        return (*declared.inputs.values(), *declared.states.values(), *declared.outputs.values())

    @property
    def faultable(self) -> Mapping[str, int]:
        """The variables that may have faults, and the longest delay of each in ticks: none, unless it is made so."""
        return {}

    @property
    def layout(self) -> Layout:
        """The layout of the ring where all its readers are on the host: published states, then outputs."""
        return self._published(*PLACES)

    @property
    def host_layout(self) -> Layout:
        """The layout of the ring where a GPU keeps what its readers there get: of the fields for others."""
        return self._published("host", "both")

    @property
    def device_layout(self) -> Layout:
        """The layout of what a GPU keeps for readers there."""
        return self._published("device", "both")

    @property
    def state_layout(self) -> Layout:
        """The layout of the whole state: states, then outputs."""
        return self._lay_out(*self.declarations.states.values(), *self.declarations.outputs.values())

    @property
    def input_layout(self) -> Layout:
        """The layout of the inputs."""
        return self._lay_out(*self.declarations.inputs.values())

    def counts(self, variable: Variable) -> tuple[int, ...]:
        """Work out the shape that a variable has with these parameters.

        Raises PlantError naming the class.
        """
        try:
            return variable.counts(self._values)
        except PlantError as fault:
            raise PlantError(f"{type(self).__name__}: {fault}") from None

    def initial(self, seed: int) -> Mapping[str, Any]:  # noqa: ARG002
        """Choose the state at reset: name → value, for those that ``sn.state(initial=…)`` does not settle.

        Override it; ``seed`` is the stepper's, and the same seed must give the same state.
        """
        return {}

    def build(self, plan: Recording, dt: float) -> None:  # noqa: ARG002
        """Launch the kernels of one substep; ``dt`` is its length in seconds. Every plant overrides it."""
        raise PlantError(f"{type(self).__name__} has no build(self, plan, dt); launch its kernels there")

    def _published(self, *places: str) -> Layout:
        declared = self.declarations
        published: tuple[State | Output, ...] = (*declared.states.values(), *declared.outputs.values())
        return self._lay_out(*(each for each in published if each.publish in places))

    def _lay_out(self, *variables: Variable) -> Layout:
        return Layout.of((each.name, each.dtype, self.counts(each), each.unit) for each in variables)

    def _bind(self, variable: Variable) -> Binding:
        binding = StateBinding if isinstance(variable, State) else Binding
        return binding(variable.name, variable.dtype, math.prod(self.counts(variable)))


def expect(given: object) -> None:
    """Raise PlantError for what is no plant, such as the class of one."""
    if not isinstance(given, Plant):
        made = f"{given.__name__}()" if isinstance(given, type) else "a plant"
        raise PlantError(f"a stepper steps a plant, not {given!r}; pass {made}")
