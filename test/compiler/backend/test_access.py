import re

import pytest

import sim_node as sn
from sim_node.compiler.backend import host
from sim_node.compiler.frontend import lower
from sim_node.compiler.passes.pipeline import optimise

F, N = sn.array(dtype=float), sn.array(dtype=int)


@sn.kernel
def rows(x: F, y: F):
    i = sn.tid()
    y[i] = x[i]


@sn.kernel
def ways(x: F, a: N, y: F):
    i = sn.tid()
    y[i] = x[a[i]] + x[3]


@sn.kernel
def some(x: F, n: int, y: F):
    i = sn.tid()
    if x[i] > 0.0:
        y[i] = x[n]


def lines(kernel, bits):
    text = host.module(optimise(lower(kernel)).entry, bits)
    text = text[text.rindex("\nlanes:") : text.rindex("\nmore:")]  # the last loop's, of what others leave
    return [line.split(" = ")[-1].strip() for line in text.splitlines()]


@pytest.mark.parametrize("bits", [256, 512])
def test_neighbours_are_read_in_a_row(bits):
    found = [line for line in lines(rows, bits) if re.search(r"load|store|gather|scatter", line)]
    assert len(found) == 2
    assert all(("@llvm.masked." in line) == (bits == 512) for line in found)  # some lanes may have no thread
    assert not re.search("gather|scatter", " ".join(found))


def test_lanes_that_go_their_own_ways():
    found = lines(ways, 256)
    assert sum("@llvm.masked.gather" in line for line in found) == 1
    assert sum(line.startswith("load float") for line in found) == 1  # the same for all


def test_what_no_thread_reads_is_not_read():
    """The index may be of no element then."""
    found = lines(some, 256)
    assert sum(line.startswith("select i1") and "ptr %error" in line for line in found) == 1
    assert sum("@llvm.masked.store" in line for line in found) == 1
