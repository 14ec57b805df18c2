"""Kernels are wrapped, and not run as functions."""

import pytest

import sim_node as sn
from sim_node.errors import BuildError, LaunchError


@sn.kernel
def step(n: int):
    """Does nothing."""


def test_a_kernel_knows_its_function():
    assert (step.name, step.module, step.entry) == ("step", __name__, None)
    assert step.function.__name__ == "step"
    assert step.__doc__ == "Does nothing."
    assert repr(step) == f"<kernel {__name__}.step>"


def test_calling_a_kernel_says_what_to_write():
    with pytest.raises(LaunchError, match=r"sn.launch\(step, dim="):
        step(3)


@pytest.mark.parametrize("mark", [sn.kernel, sn.func])
@pytest.mark.parametrize("thing", [3, print, int, step, lambda: 1])
def test_only_functions_are_marked(mark, thing):
    with pytest.raises(BuildError, match="marks a function, not"):
        mark(thing)
