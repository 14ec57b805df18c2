"""Funcs are plain Python as well."""

from typing import Any

import numpy as np
import pytest

import sim_node as sn
from sim_node.errors import BuildError, BuildTypeError


@sn.func
def scale(x, factor=2.0):
    """Scales."""
    return x * factor


def test_a_func_runs_in_python():
    assert scale(3.0) == 6.0
    assert scale(3.0, factor=4.0) == 12.0


def test_a_func_knows_its_function():
    assert (scale.name, scale.module, scale.__doc__) == ("scale", __name__, "Scales.")
    assert repr(scale) == f"<func {__name__}.scale>"


def test_a_func_may_have_a_name_of_its_own():
    named = sn.func(name="other", module="unique")(scale.function)
    assert (named.name, named(3.0)) == ("other", 6.0)
    assert sn.func()(scale.function).name == "scale"


@sn.func
def over(x: int):
    return 1


first = over


@sn.func
def over(x: float):
    return 2


@sn.func
def over(x: Any, y: Any):
    return x + y


def test_funcs_of_one_name_in_one_text_are_overloads():
    assert first.overloads == (first,)
    assert over.overloads[0] is first
    assert over.overloads[-1] is over
    assert len(over.overloads) == 3


def test_a_func_of_another_text_or_run_replaces():
    names = {"sn": sn, "__name__": "shell"}
    one, two = ("@sn.func\ndef f(x: int):\n    return 1\n\n@sn.func\ndef f(x: float):\n    return 2\n" for _ in "ab")
    for text, cell in [(one, "cell 1"), (one, "cell 1"), (two, "cell 2")]:
        exec(compile(text, cell, "exec"), names)
        assert [func.function.__code__.co_filename for func in names["f"].overloads] == [cell, cell]
    exec(compile("@sn.func\ndef f(x: bool):\n    return 3\n", "cell 3", "exec"), names)
    assert len(names["f"].overloads) == 1


@pytest.mark.parametrize(
    ("args", "wanted"), [((1,), 1), ((1.0,), 2), ((np.float32(1),), 2), ((np.float64(1), 2), 3.0), ((1, 2), 3)]
)
def test_in_python_the_arguments_choose_too(args, wanted):
    assert over(*args) == wanted


def test_no_overload_takes_the_arguments():
    with pytest.raises(BuildTypeError, match=r"no overload of 'over' takes \(f64\)"):
        over(np.float64(1))


@sn.func(changes=("v", "n"))
def bump(v: sn.vec2, n: int, by: float):
    return v[0], sn.vec2(v[0] + by, v[1]), n + 1


@sn.func(changes=("v",))
def clear(v: sn.vec2):
    return sn.vec2()


def test_what_a_func_changes_goes_to_the_callers_variables():
    @sn.kernel
    def k(out: sn.array[float], count: sn.array[int]):
        v, n = sn.vec2(1.0, 2.0), 0
        for _ in range(3):
            out[0] += bump(by=0.5, v=v, n=n)
        out[1], out[2], count[0] = v.x, v.y, n
        bump(sn.vec2(9.0), 5, 1.0)
        out[3] = v.x if bump(v, n, 1.0) < 0.0 else v.x + 10.0
        clear(v)
        out[4] = v.x

    for device in ("cpu", "python"):
        out, count = np.zeros(5, np.float32), np.zeros(1, np.int32)
        sn.launch(k, 1, inputs=[out, count], device=device)
        np.testing.assert_array_equal(out, [1 + 1.5 + 2, 2.5, 2.0, 13.5, 0.0])
        assert count[0] == 3


def test_in_plain_python_composite_values_are_changed():
    v, n = sn.vec2(1.0, 2.0), np.int32(0)
    assert bump(v, n, np.float32(0.5)) == 1.0
    assert v == (1.5, 2.0)
    assert n == 0
    assert clear(v) is None
    assert v == (0.0, 0.0)


def test_a_func_changes_parameters_of_its_own():
    with pytest.raises(BuildError, match="'f' has no parameter 'w' to change"):

        @sn.func(changes=("w",))
        def f(v):
            return v
