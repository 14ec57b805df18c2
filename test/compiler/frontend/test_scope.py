"""Names around a function."""

import pytest

from sim_node.compiler.frontend.scope import Scope, suggestion

OUTER = 1


def make():
    held = 2
    late: int

    def inner(a):
        b = a + held + OUTER + late
        return b + len([late])

    scope = Scope(inner)
    late = 3
    return scope, Scope(inner)


def test_lookup_goes_from_the_inside_out():
    early, late = make()
    assert late.lookup("held") == 2
    assert late.lookup("OUTER") == 1
    assert late.lookup("len") is len
    assert late.lookup("late") == 3
    assert {"a", "b"} <= late.locals
    for name in ("late", "nothing"):
        with pytest.raises(KeyError):
            early.lookup(name)


def test_suggestions():
    scope = make()[1]
    assert suggestion("hold", scope.names()) == "did you mean held?"
    assert suggestion("rnge", scope.names(), "sn.{}") == "did you mean sn.range?"
    assert suggestion("zzzz", scope.names()) == ""
