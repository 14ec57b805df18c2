"""Where the elements of an array lie, in the pieces that are copied between the host and a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from sim_node.runtime.view import spanned

# Bytes that a GPU brings over in about the time that one more row takes it: shorter gaps are copied, too.
GAP = 1 << 10
_MOST_PITCH = 2**31 - 1  # CU_DEVICE_ATTRIBUTE_MAX_PITCH


class Pieces:
    """The memory of elements as rows of bytes, and a place for them on the host where they lie close together.

    Attributes: ``strides`` and ``nbytes`` of the host's array, ``low`` (where its lowest byte is, counted from its
    first element), ``gapless`` (whether the rows hold the elements alone).
    """

    def __init__(self, shape: tuple[int, ...], strides: Sequence[int], size: int) -> None:
        """Elements of so many bytes; strides in bytes may be negative or 0."""
        here, self._row = list(strides), size
        # from one row to others, the shortest steps first: how many, and bytes of a step on the GPU and on the host
        self._steps = list[tuple[int, int, int]]()
        order = sorted((axis for axis in range(len(shape)) if shape[axis] > 1), key=lambda axis: abs(strides[axis]))
        self.gapless = nested = _nested([(shape[axis], abs(strides[axis])) for axis in order], size)
        apart = size  # bytes from one step to the next of the host
        for axis in order:
            step = abs(strides[axis])
            if not nested or (not self._steps and step - self._row <= GAP):
                self.gapless &= step == self._row
                self._row += (shape[axis] - 1) * step
                apart = self._row
            else:
                here[axis] = apart if strides[axis] > 0 else -apart
                many, away, near = self._steps[-1] if self._steps else (1, 0, 0)
                if many * away == step:  # as many rows more, as far apart
                    self._steps[-1] = many * shape[axis], away, near
                else:
                    self._steps.append((shape[axis], step, apart))
                apart *= shape[axis]
        self.strides = tuple(here)
        self.low, self.nbytes = spanned(shape, here, size)

    def copies(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Lead to the copies: where each begins on the GPU and on the host, counted from the lowest bytes, the bytes
        of a row, how many rows, and how many bytes they are apart on the GPU."""
        steps, rows, pitch = self._steps, 1, 0
        if steps and steps[0][1] <= _MOST_PITCH:
            (rows, pitch, _), *steps = steps
        for place in product(*(range(n) for n, _, _ in steps)) if self.nbytes else ():
            there = sum(at * away for at, (_, away, _) in zip(place, steps))
            here = sum(at * near for at, (_, _, near) in zip(place, steps))
            yield there, here, self._row, rows, pitch


def _nested(dims: list[tuple[int, int]], size: int) -> bool:
    """Whether all of each dimension, of an extent and a step, lies before the next step of the one after it."""
    for extent, step in dims:
        if step < size:
            return False
        size += (extent - 1) * step
    return True
