"""A peer that is not measured is told with what it said, and what brings it."""

import pytest

from sim_node.cli.benches.absence import absence


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ImportError("no", name="warp.types"), "ImportError: no; make setup BENCH=1 brings it"),
        (ModuleNotFoundError("No module named 'cupy'", name="cupy"), "ModuleNotFoundError: No module named 'cupy'"),
        (RuntimeError("the linker\n  is too old"), "RuntimeError: the linker is too old"),
        (OSError("x" * 300), f"OSError: {'x' * 200}"),
    ],
)
def test_why(error, told):
    assert absence(error) == {"absent": told}
