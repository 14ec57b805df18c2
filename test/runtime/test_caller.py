import sys
from pathlib import Path

from sim_node.runtime.caller import caller


def test_the_place_is_the_innermost_outside_the_runtime():
    inside = {"__name__": "sim_node.runtime.somewhere", "caller": caller}
    exec("def act():\n    return caller()", inside)
    line = sys._getframe().f_lineno + 1
    assert inside["act"]() == f"{Path(__file__)}:{line} in test_the_place_is_the_innermost_outside_the_runtime"
