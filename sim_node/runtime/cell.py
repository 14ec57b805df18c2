"""Cells: arguments of a plan whose address changes from run to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim_node import _native, dtypes
from sim_node.runtime.array import Shape, extents

if TYPE_CHECKING:
    from typing_extensions import Self


class Cell(_native.Cell):
    """The place of an array in a plan, with its dtype and shape; ``Plan.point`` or the stepper says where it is.

    Attributes: ``shape``.
    """

    __slots__ = ()

    def __new__(cls, dtype: Any, shape: Shape) -> Self:
        """Raise TypeError for an unknown dtype, ValueError for a shape that no array has."""
        element = dtypes.element(dtype)
        return super().__new__(cls, element.scalar.code, element.length, extents(shape))
