"""An arena: parts of a few plain allocations of a device, handed out and taken back.

An inter-process handle (CUDA's IPC) is of a plain allocation, which takes the driver long to make, and to free it waits
for the whole device. So allocations are large, are kept for what comes next, and each part knows the one it lies in.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from sim_node import _native

if TYPE_CHECKING:
    from typing_extensions import Self

ALIGNMENT = 256  # bytes: of what the driver allocates itself, and of the widest transaction
BLOCK = 64 << 20  # bytes of one allocation, if nothing larger is asked for
HOLDERS = 5  # that are named when memory is short


class Memory(_native.Memory):
    """Bytes of a device, given back when nothing refers to them any more.

    Attributes: ``address``, ``nbytes``, ``device``, ``base`` (the address of the allocation that they lie in).
    """

    __slots__ = ("_arena", "base")

    base: int
    _arena: Arena

    def __new__(cls, address: int, nbytes: int, base: int, arena: Arena) -> Self:
        """Show a part that the arena handed out."""
        made = super().__new__(cls, address, nbytes, arena.device)
        made.base, made._arena = base, arena
        return made

    def __del__(self) -> None:
        self._arena.give(self.address)


class Arena:
    """Hands out parts of allocations that ``allocate(nbytes)`` makes, at an address, and ``free(address)`` ends.

    Any thread may take and drop parts. Attributes: ``device`` (whose memory it is), ``taken`` (bytes in parts),
    ``reserved`` (bytes in allocations).
    """

    def __init__(
        self, device: object, allocate: Callable[[int], int], free: Callable[[int], None], block: int = BLOCK
    ) -> None:
        self.device, self._allocate, self._free, self._block = device, allocate, free, block
        self._lock = threading.Lock()
        self._given: deque[int] = deque()  # parts dropped, perhaps by the garbage collector in the middle of a take
        self._blocks: dict[int, int] = {}  # base → bytes
        self._parts: dict[int, tuple[int, int, str]] = {}  # address → bytes, base, label
        self._gaps: list[tuple[int, int]] = []  # bytes and address of what is free, the smallest first
        self._begins: dict[int, tuple[int, int]] = {}  # address of a gap → bytes, base
        self._ends: dict[int, int] = {}  # where a gap ends → where it begins

    @property
    def taken(self) -> int:
        """Bytes in parts that are in use."""
        with self._lock:
            self._settle()
            return sum(nbytes for nbytes, _, _ in self._parts.values())

    @property
    def reserved(self) -> int:
        """Bytes in allocations."""
        with self._lock:
            return sum(self._blocks.values())

    def take(self, nbytes: int, label: str = "") -> Memory:
        """Hand out so many bytes, aligned to 256; ``label`` says whose they are.

        Raises what ``allocate`` raises where it has no more, also after all that is unused was given back.
        """
        size = max(-(-nbytes // ALIGNMENT), 1) * ALIGNMENT
        with self._lock:
            self._settle()
            at = bisect_left(self._gaps, (size, 0))
            if at == len(self._gaps):
                self._reserve(size)
                at = bisect_left(self._gaps, (size, 0))
            found, address = self._gaps[at]
            _, base = self._remove(address)
            if found > size:
                self._insert(address + size, found - size, base)
            self._parts[address] = size, base, label
        return Memory(address, nbytes, base, self)

    def trim(self) -> None:
        """Free every allocation of which no part is in use."""
        with self._lock:
            self._settle()
            self._trim(0)

    def holders(self) -> list[tuple[int, str]]:
        """List those who hold most: bytes and label, parts of one label together, the largest first."""
        with self._lock:
            self._settle()
            held: dict[str, int] = {}
            for nbytes, _, label in self._parts.values():
                held[label] = held.get(label, 0) + nbytes
        return sorted(((nbytes, label) for label, nbytes in held.items()), reverse=True)[:HOLDERS]

    def give(self, address: int) -> None:
        """Take a part back. The garbage collector may do that while this very thread holds the lock: then later."""
        self._given.append(address)
        if self._lock.acquire(blocking=False):
            try:
                self._settle()
            finally:
                self._lock.release()

    def _settle(self) -> None:
        """Take back what was given; one unused allocation is kept, the others are freed."""
        while self._given:
            address = self._given.popleft()
            nbytes, base, _ = self._parts.pop(address)
            after = self._begins.get(address + nbytes)
            if after is not None and after[1] == base:
                nbytes += self._remove(address + nbytes)[0]
            before = self._ends.get(address)
            if before is not None and self._begins[before][1] == base:
                nbytes += self._remove(before)[0]
                address = before
            self._insert(address, nbytes, base)
            if nbytes == self._blocks[base]:
                self._trim(1)

    def _reserve(self, size: int) -> None:
        nbytes = max(size, self._block)
        try:
            base = self._allocate(nbytes)
        except MemoryError:
            self._trim(0)
            base = self._allocate(nbytes := size)
        self._blocks[base] = nbytes
        self._insert(base, nbytes, base)

    def _trim(self, keep: int) -> None:
        """Free unused allocations but so many, of which none is larger than usual."""
        for base, nbytes in list(self._blocks.items()):
            if self._begins.get(base, (0, 0))[0] != nbytes:
                continue
            if keep and nbytes == self._block:
                keep -= 1
                continue
            self._remove(base)
            del self._blocks[base]
            self._free(base)

    def _insert(self, address: int, nbytes: int, base: int) -> None:
        insort(self._gaps, (nbytes, address))
        self._begins[address] = nbytes, base
        self._ends[address + nbytes] = address

    def _remove(self, address: int) -> tuple[int, int]:
        nbytes, base = self._begins.pop(address)
        del self._ends[address + nbytes]
        del self._gaps[bisect_left(self._gaps, (nbytes, address))]
        return nbytes, base
