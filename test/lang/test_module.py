"""A module's options are those of its kernels that say nothing."""

import pytest

import sim_node as sn
from sim_node.errors import BuildTypeError


@pytest.fixture
def options():
    before = sn.get_module_options()
    yield
    sn.set_module_options(before)


def test_a_module_has_a_name_and_is_one():
    module = sn.get_module(__name__)
    assert module is sn.get_module(__name__)
    assert (str(module), repr(module)) == (__name__, f"<module of kernels {__name__}>")


def test_kernels_have_the_options_of_their_module(options):
    def nothing():
        pass

    before = sn.kernel(nothing)
    sn.set_module_options({"deterministic": False, "enable_backward": False})
    after, own = sn.kernel(nothing), sn.kernel(deterministic=True)(nothing)
    assert [kernel.options.deterministic for kernel in (before, after, own)] == [True, False, True]
    assert after.module is sn.get_module(__name__)
    assert after.module.options["deterministic"] is False
    assert sn.get_module_options()["enable_backward"] is False


def test_another_module_has_its_own(options):
    other = sn.get_module("elsewhere")
    sn.set_module_options({"fast_math": True}, other)
    assert sn.get_module_options(other)["fast_math"] is True
    assert sn.get_module_options()["fast_math"] is False


def test_what_was_read_is_a_copy():
    sn.get_module_options()["fast_math"] = True
    assert sn.get_module_options()["fast_math"] is False


def test_a_misspelt_option_is_refused():
    with pytest.raises(BuildTypeError, match="no option 'fast_maths'"):
        sn.set_module_options({"fast_maths": True})
