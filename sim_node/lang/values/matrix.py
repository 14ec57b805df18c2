"""Matrices of the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim_node.lang.values.numbers import is_number, number
from sim_node.lang.values.value import Numeric, Numpy, Value, viewed
from sim_node.lang.values.vector import VectorValue, components, numbers, unnamed


class MatrixValue(Numeric):
    """Numbers in rows and columns: ``m[i]`` is a row, ``m[i, j]`` a number, and slices give rows, columns and parts.

    ``*`` and ``@`` are the product of matrices, and of a matrix and a vector.
    """

    __slots__ = ()

    @classmethod
    def _made(cls, *parts: Any, **named: Any) -> Numpy:
        """Make a matrix: of nothing (zeros), one number for all, all numbers row by row, or as many rows."""
        type_ = cls._type
        unnamed(type_, named)
        if len(parts) == 1 and not is_number(parts[0]):
            parts = tuple(parts[0])
        if len(parts) == type_.rows and parts and not any(is_number(part) for part in parts):
            return np.array([numbers(row, type_, type_.cols) for row in parts], type_.scalar.numpy)
        return components(type_, type_.rows * type_.cols, *parts).reshape(type_.rows, type_.cols)

    def __getitem__(self, key: Any) -> Any:
        part = self._memory[_key(key)]
        if not isinstance(part, np.ndarray):
            return part
        if part.ndim == 1:
            return viewed(self._type.vector(len(part)), part.copy())
        part = part if part.size else part[:0, :0]  # what has no numbers is one type
        return viewed(self._type.matrix(*part.shape), part.copy())

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set a number, a row, a column or a part: to one number or as many."""
        key = _key(key)
        part = self._memory[key]
        if isinstance(part, np.ndarray) and not is_number(value):
            given = [*value]
            if part.ndim == 2 and given and not is_number(given[0]):
                rows = [numbers(row, self._type, part.shape[1]) for row in given]
                self._memory[key] = np.reshape(rows, part.shape)
            else:
                self._memory[key] = numbers(given, self._type, part.size).reshape(part.shape)
        else:
            self._memory[key] = number(value, self.dtype)

    def get_row(self, row: int) -> VectorValue:
        """Copy a row."""
        vector: VectorValue = self[row]
        return vector

    def get_col(self, column: int) -> VectorValue:
        """Copy a column."""
        vector: VectorValue = self[:, column]
        return vector

    def set_row(self, row: int, values: Any) -> None:
        """Set a row: to one number or as many."""
        self[row] = values

    def set_col(self, column: int, values: Any) -> None:
        """Set a column: to one number or as many."""
        self[:, column] = values

    def __mul__(self, other: Any) -> Any:
        return self._product("*", other) if isinstance(other, (VectorValue, MatrixValue)) else super().__mul__(other)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return self._memory @ other
        return self._product("@", other)

    def __rmul__(self, other: Any) -> Any:
        return self._from_left("*", other) if isinstance(other, VectorValue) else super().__rmul__(other)

    def __rmatmul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return other @ self._memory
        return self._from_left("@", other)

    def _product(self, symbol: str, other: Any) -> Any:
        """Matrix by matrix, or by a column."""
        self._meets(symbol, other, isinstance(other, (VectorValue, MatrixValue)), self._memory.shape[1], 0)
        right = other._memory if isinstance(other, MatrixValue) else other._memory[:, None]
        made = product(self._memory, right)
        if isinstance(other, MatrixValue):
            return viewed(self._type.matrix(*made.shape), made)
        return viewed(self._type.vector(len(made)), made[:, 0])

    def _from_left(self, symbol: str, other: Any) -> Any:
        """A row by this matrix."""
        self._meets(symbol, other, isinstance(other, VectorValue), self._memory.shape[0], 0)
        made = product(other._memory[None, :], self._memory)
        return viewed(self._type.vector(made.shape[1]), made[0])

    def _meets(self, symbol: str, other: Any, fits: bool, wanted: int, axis: int) -> None:
        if not fits or other.dtype != self.dtype or other._memory.shape[axis] != wanted:
            named = repr(other._type) if isinstance(other, Value) else f"a {type(other).__name__}"
            raise TypeError(f"'{symbol}' is not defined for {self._type!r} and {named}")

    def __str__(self) -> str:
        rows = (", ".join(str(part) for part in row) for row in self._memory)
        return "[" + ",\n ".join(f"[{row}]" for row in rows) + "]"


def product(left: Numpy, right: Numpy) -> Numpy:
    """Multiply matrices; each sum runs from the first term to the last, each step rounded in the scalar type."""
    with np.errstate(all="ignore"):
        total: Numpy = left[:, 0:1] * right[0:1, :]
        for at in range(1, left.shape[1]):
            total = total + left[:, at : at + 1] * right[at : at + 1, :]
    return total


def _key(key: Any) -> Any:
    keys = key if isinstance(key, tuple) else (key,)
    fits = all(isinstance(one, (int, np.integer, slice)) and not isinstance(one, bool) for one in keys)
    if not fits or len(keys) > 2:
        raise TypeError(f"a matrix is indexed by one or two integers or slices, not {key!r}")
    return tuple(one if isinstance(one, slice) else int(one) for one in keys)
