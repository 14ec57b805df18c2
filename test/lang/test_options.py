"""Options of a kernel: those that there are, those of Warp's that change nothing, and no others."""

import pytest

import sim_node as sn
from sim_node.errors import BuildError, BuildTypeError
from sim_node.lang.options import DEFAULTS, Options, choose


def test_what_is_not_given_is_the_modules():
    assert choose({}, DEFAULTS) == Options()
    assert choose({"fast_math": "reproducible"}, {**DEFAULTS, "deterministic": False}) == Options(False, "reproducible")


def test_warps_are_kept_and_change_nothing():
    chosen = choose({"enable_backward": True}, DEFAULTS)
    assert chosen == Options()
    assert (chosen.get("enable_backward"), chosen.get("launch_bounds", 3), chosen.get("deterministic")) == (
        True,
        3,
        True,
    )


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"fast_math": "fast"}, BuildError, "fast_math of @sn.kernel is 'fast'"),
        ({"deterministic": 1}, BuildError, "deterministic"),
        ({"guards": "clip"}, BuildError, "guards"),
        ({"guard": "clamp"}, BuildTypeError, "no option 'guard'"),
    ],
)
def test_others_are_refused(given, error, why):
    with pytest.raises(error, match=why):
        choose(given, DEFAULTS)


def test_only_fast_math_changes_code_of_one_ir():
    assert Options(fast_math=True).code
    assert not Options(deterministic=False, fast_math="reproducible", guards="clamp").code


def test_a_func_has_no_options_of_a_kernel():
    with pytest.raises(BuildTypeError, match="no option 'deterministic'"):
        sn.func(deterministic=False)
