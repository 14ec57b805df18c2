"""What launches leave in memory, read as slopes."""

import sim_node as sn
from sim_node.compiler.analysis.linear import ANYTHING
from sim_node.compiler.analysis.trace import Memory, trace
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise

Floats = sn.array(dtype=float)


@sn.kernel
def scaled(a: Floats, b: Floats, k: float, n: int):
    i = sn.tid()
    if i < n:
        b[i] = k * a[i]


@sn.kernel
def shifted(a: Floats, b: Floats, k: float, n: int):
    i = sn.tid()
    b[i] = a[i + n] + k


@sn.kernel
def scattered(a: Floats, b: Floats, k: float, n: int):
    i = sn.tid()
    for j in range(n):
        b[j] = k * a[i]


def left(*launches):
    """The slopes of what is in array 2 after launches on (a, b), each (kernel, a, b, k, n)."""
    memory = Memory()
    for kernel, a, b, k, n in launches:
        known = {(0, 0): a, (0, 1): 8, (1, 0): b, (1, 1): 8, (2, 0): k, (3, 0): n}
        if not trace(optimise(lower(kernel)).entry, known, memory):
            memory.lose({b})
    cases = [stored.cases for spot, stored in memory.stored.items() if spot.array == 2]
    return [[{spot.array: slope for spot, slope in case.slopes.items()} for case in each] for each in cases]


def test_launches_compose_and_a_store_in_a_branch_makes_cases():
    assert left((scaled, 1, 2, 3.0, 8)) == [[{2: 1.0}, {1: 3.0}]]
    assert left((scaled, 0, 1, 2.0, 8), (shifted, 1, 2, 0.0, 0)) == [[{1: 1.0}, {0: 2.0}]]


def test_another_threads_element_is_what_that_thread_left():
    ((kept, moved),) = left((scaled, 0, 1, 2.0, 8), (shifted, 1, 2, 0.0, 1))
    assert (kept, moved) == ({1: 1.0}, {0: 2.0})


def test_what_is_stored_in_a_loop_is_lost():
    assert left((scattered, 0, 1, 2.0, 8), (shifted, 1, 2, 0.0, 0)) == [[{ANYTHING.array: None}]]
