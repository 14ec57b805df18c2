"""Funcs are plain Python as well."""

import sim_node as sn


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
