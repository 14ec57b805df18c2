"""What a run of a plan is on a GPU: one graph of all its rounds, with what it brings there first and fetches last."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim_node.device.cuda import PRINT_BYTES, RECORD_BYTES, WAITS, Cuda, Module
from sim_node.device.graph import Graph

if TYPE_CHECKING:
    from sim_node.runtime.array import Array
    from sim_node.runtime.plan import Plan

_ROWS, _WORD = 3, 8  # src/plan.h: rows of cells, and bytes of one


@dataclass(frozen=True)
class Closing:
    """Launches behind the last round, which add something up in ``sums``, that begin at zero.

    Cells of theirs are, in this order, the plan's of ``cells``, as the last round has them.
    """

    plan: Plan
    cells: tuple[int, ...]
    sums: Array


class Rounds:
    """The graph of a plan that is recorded; it lives as long as this.

    Before the first round it brings the cells and ``inputs`` bytes to the GPU, which the host writes at ``cells`` and
    ``held``; kernels find the latter at ``seen``. After the last, and what closes it, the sums are at the host's
    ``summed``. Attributes besides these addresses: ``count`` (of rounds), ``handle``, ``reports``.
    """

    def __init__(self, plan: Plan, count: int = 1, inputs: int = 0, closing: Closing | None = None) -> None:
        device = plan.device
        assert isinstance(device, Cuda)
        self.count, self._closing = count, closing
        launches, ended = len(plan.launches), len(closing.plan.launches) if closing else 0
        prints = any(site.kind == "print" for launch in plan.launches for site in launch.program.sites)
        self.reports = device.reports(count * launches + ended, PRINT_BYTES if prints else 0)
        row = len(plan.cells) * _WORD
        size = _ROWS * row + inputs
        self._host, self._there = device.pinned(size), device.allocate(size, label="inputs of a plan")
        self._host[:] = bytes(size)
        self.cells = _address(self._host)
        self.held, self.seen = self.cells + _ROWS * row, self._there.address + _ROWS * row
        self._graph = graph = Graph(device)
        if size:
            graph.copy(self._there.address, self.cells, size, host="source")
        for number in range(count):
            start = self._there.address + (1 + (count - number) % 2 if number else 0) * row
            self._launch(plan, tuple(start + _WORD * i for i in range(len(plan.cells))), number * launches)
        self.summed = 0
        if closing is not None:
            sums, nbytes = closing.sums, closing.sums.size * closing.sums.element.size
            self._summed = device.pinned(nbytes)
            self.summed = _address(self._summed)
            graph.zero(sums.ptr, nbytes)
            self._launch(closing.plan, tuple(start + _WORD * i for i in closing.cells), count * launches)
            graph.copy(self.summed, sums.ptr, nbytes, host="to")
        graph.end()
        self.handle = graph.handle

    def _launch(self, plan: Plan, cells: tuple[int, ...], first: int) -> None:
        for i, (launch, recorded) in enumerate(zip(plan.packed(cells), plan.launches, strict=True)):
            code = recorded.program.owner
            assert isinstance(code, Module)
            record = self.reports.records + (first + i) * RECORD_BYTES
            self._graph.launch(*launch, record, waits=WAITS in code.symbols)


def _address(memory: memoryview) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)) if memory.nbytes else 0
