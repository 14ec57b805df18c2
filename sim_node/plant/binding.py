"""What a plant's variables are in a launch: cells, whose addresses the stepper sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from sim_node import dtypes
from sim_node.runtime.cell import Cell

if TYPE_CHECKING:
    from typing_extensions import Self


class Binding(Cell):
    """An input's or an output's memory in the launches of a plan, or a state's value.

    Attributes: ``name``, ``shape``.
    """

    __slots__ = ("name",)

    name: str

    def __new__(cls, name: str, dtype: dtypes.Element, count: int) -> Self:
        """Make the cell of ``count`` elements; kernels see one axis whatever the declared shape."""
        self = super().__new__(cls, dtype, count)
        self.name = name
        return self

    def __repr__(self) -> str:
        return f"self.{self.name}"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or name == "name":
            raise AttributeError(name)
        why = "only a state's value has one" if name == "next" else "it stands for memory, to be named in a launch"
        raise AttributeError(f"{self!r} has no '{name}': {why}")


class StateBinding(Binding):
    """A state's value in the launches of a plan; ``next`` is what the substep makes of it."""

    __slots__ = ("next",)

    next: Binding

    def __new__(cls, name: str, dtype: dtypes.Element, count: int) -> Self:
        """Make the cells of value and next."""
        self = super().__new__(cls, name, dtype, count)
        self.next = Binding(f"{name}.next", dtype, count)
        return self
