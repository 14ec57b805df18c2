"""What a run of a plan is on a GPU: one graph of all its rounds, with what it brings there first and fetches last."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim_node.device.cuda import PRINT_BYTES, RECORD_BYTES, WAITS, Cuda, Event, Module
from sim_node.device.graph import Graph
from sim_node.runtime.trace import COMMIT_ON_GPU, HASH_ON_GPU, KERNEL, TO_GPU

if TYPE_CHECKING:
    from sim_node.runtime.array import Array
    from sim_node.runtime.plan import Plan

_ROWS, _WORD = 3, 8  # src/plan.h: rows of cells, and bytes of one
_MARK = np.dtype([("event", np.uint64), ("work", np.uint32), ("number", np.uint32)])  # the same: sn_mark


@dataclass(frozen=True)
class Closing:
    """Launches behind the last round, which add something up in ``sums``.

    What follows them is C's (sn_plan's ``follow``): it has one more record, fetches the sums, and zeroes them.

    Cells of theirs are, in this order, the plan's of ``cells``, as the last round has them.
    """

    plan: Plan
    cells: tuple[int, ...]
    sums: Array


class Rounds:
    """The graph of a plan that is recorded; it lives as long as this.

    Before the first round it brings the cells and ``inputs`` bytes to the GPU, which the host writes at ``cells`` and
    ``held``; kernels find the latter at ``seen``. The sums of what closes it are at ``summed``, and the host has room
    for them at ``sums``. Where the plan is traced, ``marks`` of the graph's pieces are at the address of that name.
    Attributes besides these addresses: ``count`` (of rounds), ``handle``, ``reports``, ``mark_count``.
    """

    def __init__(self, plan: Plan, count: int = 1, inputs: int = 0, closing: Closing | None = None) -> None:
        device = plan.device
        assert isinstance(device, Cuda)
        self._device = device
        self.count, self._closing = count, closing
        launches, ended = len(plan.launches), len(closing.plan.launches) + 1 if closing else 0
        prints = any(site.kind == "print" for launch in plan.launches for site in launch.program.sites)
        self.reports = device.reports(count * launches + ended, PRINT_BYTES if prints else 0)
        row = len(plan.cells) * _WORD
        size = _ROWS * row + inputs
        self._host, self._there = device.pinned(size), device.allocate(size, label="inputs of a plan")
        self._host[:] = bytes(size)
        self.cells = _address(self._host)
        self.held, self.seen = self.cells + _ROWS * row, self._there.address + _ROWS * row
        self._graph = graph = Graph(device)
        self._marks: list[tuple[Event, int, int]] | None = None if plan.trace is None else []
        self._mark()
        if size:
            graph.copy(self._there.address, self.cells, size)
            self._mark(TO_GPU)
        for number in range(count):
            start = self._there.address + (1 + (count - number) % 2 if number else 0) * row
            self._launch(plan, tuple(start + _WORD * i for i in range(len(plan.cells))), number * launches)
        self.sums = self.summed = 0
        if closing is not None:
            self._sums = device.pinned(closing.sums.size * closing.sums.element.size)
            self.sums, self.summed = _address(self._sums), closing.sums.ptr
            self._launch(closing.plan, tuple(start + _WORD * i for i in closing.cells), count * launches, HASH_ON_GPU)
            self._mark(COMMIT_ON_GPU, behind=True)
        graph.end()
        self.handle = graph.handle
        rows = [(int(event.handle), work, number) for event, work, number in self._marks or ()]
        self._rows = np.array(rows, _MARK)
        self.marks, self.mark_count = self._rows.ctypes.data, len(rows)

    def _mark(self, work: int = 0, number: int = 0, behind: bool = False) -> None:
        """Mark the end of a piece of the graph, or of what follows it, where the plan is traced."""
        if self._marks is not None:
            event = self._device.event()
            if not behind:
                self._graph.mark(event.handle)
            self._marks.append((event, work, number))

    def _launch(self, plan: Plan, cells: tuple[int, ...], first: int, work: int = KERNEL) -> None:
        for i, (launch, recorded) in enumerate(zip(plan.packed(cells), plan.launches, strict=True)):
            code = recorded.program.owner
            assert isinstance(code, Module)
            record = self.reports.records + (first + i) * RECORD_BYTES
            self._graph.launch(*launch, record, code, waits=WAITS in code.symbols)
            self._mark(work, i)


def _address(memory: memoryview) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)) if memory.nbytes else 0
