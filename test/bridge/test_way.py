"""A way says what it costs, and why it is not another."""

from sim_node.bridge import Way


def test_costs_are_told_in_figures():
    assert Way("posix_shm").cost == Way("in_process").cost == "a view on the slot itself; nothing is copied"
    assert "costs what its launch does" in Way("in_process", "cuda:0").cost
    assert "160 µs" in Way("cuda_ipc", "cuda:0").cost
    assert "60 µs for 64 kB" in Way("cuda_ipc", "cuda:0").cost
    assert "there are no events: the ring tells of a tick when" in Way("vmm", "cuda:0").cost


def test_what_does_not_come_says_why():
    assert str(Way("", "host", "another GPU")) == "none on host: it does not come (another GPU)"
    assert str(Way("posix_shm")).startswith("posix_shm on host: a view")
