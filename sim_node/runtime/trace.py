"""Traces: spans of time that plans and steppers leave, and what each is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sim_node import _native

if TYPE_CHECKING:
    from typing_extensions import Self

# src/trace.h: in a tick from its inputs on one behind the other, then what a GPU does in it
WORKS = (
    *("tick", "inputs", "plan", "hash", "commit", "record"),
    *("kernel", "copy to the GPU", "hash on the GPU", "commit on the GPU"),
)
TICK = 0
KERNEL, TO_GPU, HASH_ON_GPU, COMMIT_ON_GPU = (WORKS.index(name) for name in WORKS[6:])
SPAN = np.dtype([("begin_ns", np.int64), ("end_ns", np.int64), ("work", np.uint32), ("number", np.uint32)])
CAPACITY = 1 << 18


class Trace(_native.Trace):
    """Spans that one plan, or one stepper, leaves from when it is given this; what nobody takes is lost and counted."""

    __slots__ = ()

    def __new__(cls, capacity: int = CAPACITY) -> Self:
        """Make room for so many spans."""
        return super().__new__(cls, capacity)

    def spans(self) -> np.ndarray[Any, Any]:
        """Take the spans that wait: SPAN[n], in CLOCK_MONOTONIC, by their ends, but a GPU's of one run backwards.

        ``work`` is an index of WORKS; ``number`` says which launch of the plan a kernel is, and the step (modulo 2^32)
        that a tick made.
        """
        return np.frombuffer(self.take(), SPAN)
