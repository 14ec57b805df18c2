"""Parts never overlap, come back when nobody refers to them, and what is unused does not stay."""

from __future__ import annotations

import gc
import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_node.device.arena import ALIGNMENT, Arena

BLOCK = 16 * ALIGNMENT


class Device:
    """Memory that is only counted: allocations follow each other with no room between, as a device's may."""

    def __init__(self, nbytes: int = 1 << 40) -> None:
        self.left, self.next, self.sizes = nbytes, ALIGNMENT, dict[int, int]()

    def allocate(self, nbytes: int) -> int:
        if nbytes > self.left:
            raise MemoryError(f"{nbytes} of {self.left}")
        address, self.next = self.next, self.next + nbytes
        self.left -= nbytes
        self.sizes[address] = nbytes
        return address

    def free(self, address: int) -> None:
        self.left += self.sizes.pop(address)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3 * BLOCK)), max_size=60))
def test_parts_lie_apart_and_inside_and_come_back(steps):
    device = Device()
    arena, parts = Arena(device, device.allocate, device.free, BLOCK), []
    for take, number in steps:
        if take or not parts:
            parts.append(arena.take(number))
        else:
            del parts[number % len(parts)]
        ends = sorted((part.address, part.address + part.nbytes) for part in parts)
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))
        assert all(part.address % ALIGNMENT == 0 for part in parts)
        assert all(0 <= one.address - one.base <= device.sizes[one.base] - one.nbytes for one in parts)
        assert arena.reserved == sum(device.sizes.values())
    parts.clear()
    assert arena.taken == 0
    assert arena.reserved in (0, BLOCK)
    arena.trim()
    assert not device.sizes


def test_many_cycles_leave_memory_flat():
    device = Device()
    arena = Arena(device, device.allocate, device.free, BLOCK)
    kept = arena.take(100)
    for size in range(100_000):
        part = arena.take(size % (2 * BLOCK))
        if size % 2:
            del part  # else it goes when the name is bound anew
    assert (arena.taken, arena.reserved) == (ALIGNMENT, 2 * BLOCK)  # an unused block may stay
    del kept


def test_memory_that_is_short_is_made_of_what_is_unused():
    device = Device(2 * BLOCK)
    arena = Arena(device, device.allocate, device.free, BLOCK)
    small = arena.take(1)
    large = arena.take(BLOCK)
    del small
    gc.collect()
    assert arena.reserved == 2 * BLOCK  # one unused allocation is kept
    del large
    assert arena.take(2 * BLOCK).nbytes == 2 * BLOCK
    holder = arena.take(ALIGNMENT, "the state")
    with pytest.raises(MemoryError):
        arena.take(3 * BLOCK)
    assert arena.holders() == [(ALIGNMENT, "the state")]
    del holder


def test_the_largest_holders_are_named_first():
    device = Device()
    arena = Arena(device, device.allocate, device.free, BLOCK)
    parts = [arena.take(ALIGNMENT, "small"), arena.take(3 * ALIGNMENT, "large"), arena.take(ALIGNMENT, "small")]
    assert arena.holders() == [(3 * ALIGNMENT, "large"), (2 * ALIGNMENT, "small")]
    parts.clear()


def test_a_part_dropped_while_another_is_taken_comes_back_later():
    device = Device()
    arena = Arena(device, device.allocate, device.free, BLOCK)
    parts = [arena.take(ALIGNMENT)]
    allocate = arena._allocate

    def dropping(nbytes: int) -> int:  # as the garbage collector may, with the lock held by this thread
        parts.clear()
        return allocate(nbytes)

    arena._allocate = dropping
    assert arena.take(2 * BLOCK).nbytes == 2 * BLOCK
    assert arena.taken == 0


def test_threads_take_and_drop_at_once():
    device = Device()
    arena = Arena(device, device.allocate, device.free, BLOCK)

    def work() -> None:
        for size in range(2000):
            arena.take(size)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert arena.taken == 0
