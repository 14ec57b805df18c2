"""Kernels are wrapped, and not run as functions."""

import pytest

import sim_node as sn
from sim_node.errors import BuildError, BuildTypeError, BuildValueError, LaunchError


@sn.kernel
def step(n: int):
    """Does nothing."""


def test_a_kernel_knows_its_function():
    assert (step.name, str(step.module), step.entry) == ("step", __name__, None)
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


@sn.kernel(name="renamed", module="unique", module_options={"max_unroll": 4}, enable_backward=False, launch_bounds=256)
def named(n: int):
    pass


def test_a_kernel_may_have_a_name_of_its_own():
    assert (named.name, named.key, named.function.__name__) == ("renamed", "renamed", "named")
    sn.launch(named, 1, inputs=[1])
    with pytest.raises(BuildValueError, match="'1st' is no name of a kernel"):
        sn.kernel(name="1st")(named.function)


def test_a_kernel_is_made_of_a_function_that_has_no_mark():
    def double(x: sn.array(dtype=float)):
        x[sn.tid()] *= 2.0

    made = sn.Kernel(func=double, key="double_f32", options={"enable_backward": False})
    x = sn.ones(3)
    sn.launch(made, 3, inputs=[x])
    assert (made.key, list(x.numpy())) == ("double_f32", [2.0, 2.0, 2.0])


def test_a_misspelt_option_is_refused():
    with pytest.raises(TypeError, match="enable_backwards"):
        sn.kernel(enable_backwards=False)


def test_a_unique_module_is_one_of_its_own():
    one, other = (sn.kernel(module="unique", name=name)(double_it) for name in ("one", "other"))
    assert one.module.name != other.module.name
    assert one.module.name.startswith(double_it.__module__)


def double_it(x: sn.array[float]):
    x[sn.tid()] *= 2.0


def test_alternatives_are_no_type_of_a_parameter():
    def either(x: int | float) -> float:
        return 0.0

    for mark in (sn.kernel, sn.func):
        with pytest.raises(BuildTypeError, match="Union type annotations are only supported at Python scope"):
            mark(either)
