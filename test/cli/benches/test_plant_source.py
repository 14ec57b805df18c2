"""The kernels of the compile bench are what it says, and every contender's text says the same."""

import ast

import pytest

from sim_node.cli.benches import plant_source


@pytest.mark.parametrize("dialect", ["sim_node", "warp", "numba"])
def test_statements_and_repeatability(dialect):
    text = plant_source.source(dialect, 3)
    assert text == plant_source.source(dialect, 3)
    kernels = [node for node in ast.parse(text).body if getattr(node, "name", "").startswith("plant_")]
    counts = [sum(isinstance(node, ast.stmt) for node in ast.walk(kernel)) - 1 for kernel in kernels]
    assert counts == [150, 150, 150]


def test_one_changes():
    before, after = (plant_source.source("sim_node", 3, changed=changed).splitlines() for changed in (None, 1))
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_ours_and_warp_share_a_text():
    ours, theirs = plant_source.source("sim_node", 2), plant_source.source("warp", 2)
    assert ours.replace("import sim_node", "import warp") == theirs


def test_on_gpus_numba_differs_in_what_marks_and_spreads():
    plain, gpus = (plant_source.source(dialect, 2).splitlines() for dialect in ("numba", "numba_cuda"))
    changed = [(before, after) for before, after in zip(plain, gpus, strict=True) if before != after]
    assert len(changed) == 1 + 4 + 2 * 2  # the import, four functions, and of each kernel its mark and its loop
    assert all("cuda" in after and "njit" not in after for _, after in changed)
