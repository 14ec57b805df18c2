"""Options of a kernel."""

import pytest

import sim_node as sn
from sim_node.errors import BuildError, BuildTypeError
from sim_node.lang.options import DEFAULTS, Options, choose


def step(n: int):
    pass


def test_options_are_kept_and_equal_by_value():
    made = sn.kernel(fast_math="reproducible", guards="clamp", deterministic=False, launch_bounds=256)(step)
    assert made.options == Options(False, "reproducible", "clamp")
    assert sn.kernel(step).options == sn.kernel()(step).options == Options()


def test_only_what_changes_code_is_in_the_key():
    assert [Options(guards=guards, fast_math=fast).code for guards in (None, "clamp") for fast in (False, True)] == [
        "", "fast_math", "", "fast_math",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mark", "option", "what", "remedy"),
    [
        (sn.kernel, {"guards": "on"}, "the option guards of @sn.kernel is 'on'", "None or 'clamp'"),
        (sn.kernel, {"fast_math": 1}, "the option fast_math of @sn.kernel is 1", "'reproducible'"),
        (sn.kernel, {"fastmath": True}, "@sn.kernel has no option 'fastmath'", "deterministic, fast_math, guards"),
        (sn.kernel, {"entry_point_abi": "raygen"}, "the option entry_point_abi of @sn.kernel is 'raygen'", "'warp'"),
        (sn.func, {"guards": "clamp"}, "@sn.func has no option 'guards'", "its options are name"),
    ],
)
def test_refused(mark, option, what, remedy):
    with pytest.raises(BuildError) as caught:
        mark(**option)(step)
    assert what in caught.value.what
    assert remedy in caught.value.remedy


def test_a_misspelt_option_is_a_type_error_as_in_python():
    with pytest.raises(BuildTypeError):
        sn.kernel(enable_backwards=True)


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
