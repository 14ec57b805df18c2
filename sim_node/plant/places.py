"""Where the variables of a plant lie in a stepper's memory, as rows of numbers that C reads."""

from __future__ import annotations

from sim_node.layout import Layout
from sim_node.plant.binding import Binding, StateBinding
from sim_node.plant.plant import Plant
from sim_node.plant.recording import Recording


class Places:
    """The variables of a plant. Attributes: ``private`` (the layout of the states that are not published)."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        self.private: Layout = plant._lay_out(*(s for s in plant.declarations.states.values() if not s.publish))

    def private_fields(self) -> list[tuple[int, int, Binding]]:
        """List the private ones: number in the state, bytes, and what kernels write."""
        numbers = {field.name: i for i, field in enumerate(self._plant.state_layout)}
        return [(numbers[field.name], field.nbytes, self._target(field.name)) for field in self.private]

    def fields(self, plan: Recording) -> tuple[tuple[int, ...], ...]:
        """Row by row: published, offset in its block, offset in the state, bytes, cells of value and next."""
        published = {field.name for field in self._plant.layout}
        rows = []
        for field in self._plant.state_layout:
            binding = self._plant._bindings[field.name]
            is_published = field.name in published
            block = self._plant.layout if is_published else self.private
            value = plan.number(binding) if isinstance(binding, StateBinding) else -1
            cells = value, plan.number(self._target(field.name))
            rows.append((int(is_published), block[field.name].offset, field.offset, field.nbytes, *cells))
        return tuple(rows)

    def inputs(self, plan: Recording) -> tuple[tuple[int, ...], ...]:
        """Row by row: offset, bytes, cell."""
        return tuple((f.offset, f.nbytes, plan.number(self._plant._bindings[f.name])) for f in self._plant.input_layout)

    def _target(self, name: str) -> Binding:
        """What kernels write of a state or an output."""
        binding = self._plant._bindings[name]
        return binding.next if isinstance(binding, StateBinding) else binding
