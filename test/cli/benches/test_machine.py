"""A measurement says what it was made on."""

import os

import numpy as np

from sim_node.cli.benches.machine import describe


def test_describes_this_machine():
    machine = describe()
    assert machine["cores"] == len(os.sched_getaffinity(0))
    assert machine["memory_gib"] > 0
    assert machine["processor"]
    assert machine["versions"]["numpy"] == np.__version__
