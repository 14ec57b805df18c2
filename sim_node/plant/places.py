"""Where the variables of a plant lie in a stepper's memory, as rows of numbers that C reads."""

from __future__ import annotations

from typing import Protocol

from sim_node import _native
from sim_node.device.cuda import Cuda
from sim_node.device.names import Device
from sim_node.errors import PlantError
from sim_node.layout import Layout
from sim_node.plant.binding import Binding, StateBinding
from sim_node.plant.plant import Plant
from sim_node.plant.recording import Recording

PUBLISHED, PRIVATE, DEVICE = range(3)  # src/stepper.h: sn_block
_NOWHERE = -1  # SN_NO_COPY


class Slots(Protocol):
    """Memory of a GPU where a stepper leaves the fields for readers there: as many slots as the ring has, spares too.

    ``stride`` bytes lie from one to the next; at ``events`` are the driver's handles of an event a slot, 0: none.
    """

    layout: Layout
    device: Cuda
    address: int
    stride: int
    events: int


class Places:
    """The variables of a plant: in the ring's slots, in those of a GPU, or where only the stepper sees them.

    A GPU without slots to share has the fields for readers there to itself, unless others get them from the ring.
    Attributes: ``published`` and ``device`` (layouts of both kinds of slots), ``private`` (of the rest).
    Raises PlantError for a ring or slots that were made for other layouts.
    """

    def __init__(
        self, plant: Plant, device: Device, ring: _native.Ring | None = None, slots: Slots | None = None
    ) -> None:
        self._plant, name = plant, type(plant).__name__
        is_split = slots is not None or (ring is None and isinstance(device, Cuda))
        self.published = plant.host_layout if is_split else plant.layout
        self.device = Layout((), 0) if slots is None else slots.layout
        if slots is not None and (slots.device is not device or slots.layout.digest != plant.device_layout.digest):
            raise PlantError(
                f"{name}: the slots on {slots.device} were made for another device or layout than {device} and "
                "plant.device_layout"
            )
        if ring is not None and (
            ring.digest.hex() != self.published.digest or ring.inputs != plant.input_layout.text().encode()
        ):
            other = "plant.host_layout" if is_split else "plant.layout"
            raise PlantError(f"{name}: the ring was made for other layouts than {other} and plant.input_layout")
        seen = {field.name for field in (*self.published, *self.device)}
        declared = (*plant.declarations.states.values(), *plant.declarations.outputs.values())
        self.private: Layout = plant._lay_out(*(each for each in declared if each.name not in seen))

    def written(self) -> list[tuple[int, Binding, bool]]:
        """List the state's fields as kernels write them: bytes, variable, and whether they are in the ring's slots."""
        return [
            (field.nbytes, self._target(field.name), self._place(field.name)[0] == PUBLISHED)
            for field in self._plant.state_layout
        ]

    def fields(self, plan: Recording) -> tuple[tuple[int, ...], ...]:
        """Row by row: block, offset there and in the state, bytes, cells of value and next, where it is copied to."""
        rows = []
        for field in self._plant.state_layout:
            binding = self._plant._bindings[field.name]
            block, offset, copied = self._place(field.name)
            value = plan.number(binding) if isinstance(binding, StateBinding) else -1
            cells = value, plan.number(self._target(field.name))
            rows.append((block, offset, field.offset, field.nbytes, *cells, copied))
        return tuple(rows)

    def inputs(self, plan: Recording) -> tuple[tuple[int, ...], ...]:
        """Row by row: offset, bytes, cell."""
        return tuple((f.offset, f.nbytes, plan.number(self._plant._bindings[f.name])) for f in self._plant.input_layout)

    def _place(self, name: str) -> tuple[int, int, int]:
        published, device, private = (
            {field.name: field.offset for field in layout} for layout in (self.published, self.device, self.private)
        )
        if name in device:
            return DEVICE, device[name], published.get(name, _NOWHERE)
        return (PUBLISHED, published[name], _NOWHERE) if name in published else (PRIVATE, private[name], _NOWHERE)

    def _target(self, name: str) -> Binding:
        """What kernels write of a state or an output."""
        binding = self._plant._bindings[name]
        return binding.next if isinstance(binding, StateBinding) else binding
