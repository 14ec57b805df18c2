"""Cells: arguments of a plan whose address changes from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim_node import _native, dtypes
from sim_node.runtime.element import native
from sim_node.runtime.view import Shape, extents

if TYPE_CHECKING:
    from typing_extensions import Self


class Cell(_native.Cell):
    """The place of an array in a plan, with its dtype and shape; ``Plan.point`` or the stepper says where it is.

    Attributes: ``shape``.
    """

    __slots__ = ()

    def __new__(cls, dtype: Any, shape: Shape) -> Self:
        """Raise TypeError for an unknown dtype, ValueError for a shape that no array has."""
        return super().__new__(cls, native(dtypes.element(dtype)), extents(shape))

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.element.dtype
